// SPDX-License-Identifier: Apache-2.0
// The causes for which a run can be slow. Their names are part of the JSON schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace mlrun::findings {

enum class Cause : uint8_t {
  kDataDevice,
  kDataRemote,
  kDataTransformCpu,
  kDataSerialisation,
  kDataLock,
  kDataSlowWorker,
  kDataInDriver,
  kPythonLock,
  kTimer,
  kPageCacheMiss,
  kReread,
  kSmallRequests,
  kSmallFiles,
  kRandomRequests,
  kMetadata,
  kWorkerStartup,
  kLoaderEnd,
  kCheckpoint,
  kLogging,
  kOversubscription,
  kAllocation,
  kRankSkew,
  kRemoteCall,
  kComputeBound,
  kNotFollowed,
  kNone,  // no cause: start-up and the end of the run
};
inline constexpr const char* kCauseNames[] = {"data_device",
                                              "data_remote",
                                              "data_transform_cpu",
                                              "data_serialisation",
                                              "data_lock",
                                              "data_slow_worker",
                                              "data_in_driver",
                                              "python_lock",
                                              "timer",
                                              "page_cache_miss",
                                              "reread",
                                              "small_requests",
                                              "small_files",
                                              "random_requests",
                                              "metadata",
                                              "worker_startup",
                                              "loader_end",
                                              "checkpoint",
                                              "logging",
                                              "oversubscription",
                                              "allocation",
                                              "rank_skew",
                                              "remote_call",
                                              "compute_bound",
                                              "not_followed",
                                              "none"};
inline constexpr size_t kCauses = std::size(kCauseNames);
static_assert(kCauses == static_cast<size_t>(Cause::kNone) + 1);

}  // namespace mlrun::findings
