// SPDX-License-Identifier: Apache-2.0
// A recording only for the victims (the measured programs): a temporary trace folder, an arena, and a thread that collects
// as `mlrun run` does. It is lossless, since a dropped record costs less than a written one. For the same reason a new
// recording is started before the spool is full.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "runner/collect/recording.h"
#include "runner/util/result.h"

namespace mlrun::bench {

struct Collected {
  uint64_t records = 0;
  uint64_t counted = 0;  // allocations and frees that were only counted
  uint64_t drops = 0;
  uint64_t cpu_ns = 0;  // CPU time of the collecting thread
};

class Collection {
 public:
  // `cpus`: the CPUs on which the collecting thread may run.
  static Result<std::unique_ptr<Collection>> start(const cpu_set_t& cpus);
  ~Collection();  // removes everything
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // MLRUN_SESSION=... for victims that start now.
  [[nodiscard]] std::string session_variable() const { return recording_->session_variable(); }
  void set_paused(bool paused);

  // To be called between rounds: starts a new recording if another round may not fit into the spool. Requires: no victim
  // runs.
  Status make_room();

  // Ends the recording. To be called once, after the victims have ended.
  Result<Collected> finish();

 private:
  Collection(std::string folder, const cpu_set_t& cpus) : folder_(std::move(folder)), cpus_(cpus) {}
  Status begin();
  Status end();
  void collect();
  void stop_thread();

  std::string folder_;
  cpu_set_t cpus_;
  std::unique_ptr<collect::Recording> recording_;
  Collected collected_;  // sums over the recordings that have ended
  std::atomic<bool> enough_ = false;
  std::atomic<uint64_t> spool_bytes_ = 0;  // as of the last pass; only the collecting thread uses the spool itself
  std::thread thread_;
};

}  // namespace mlrun::bench
