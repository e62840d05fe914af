// SPDX-License-Identifier: Apache-2.0
// Records of perf's ring and of perf.data: samples with addresses, and what a data source means.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mlrun::decode {

struct PerfSample {
  uint64_t ip = 0, time_ns = 0, address = 0, period = 0, weight = 0, data_source = 0;
  uint32_t pid = 0, tid = 0;
  int32_t cpu = -1;        // -1: not in the record
  uint64_t page_size = 0;  // of the page at the address; 0: none is mapped there, or not in the record
};

// `body`: a PERF_RECORD_SAMPLE without its header. nullopt: the record has a field that is not supported, or is too short. Fields after the
// data source are ignored, but for the size of the page.
std::optional<PerfSample> read_sample(uint64_t sample_type, std::span<const char> body);

enum class MemoryOp : uint8_t { kUnknown, kLoad, kStore, kPrefetch, kExecute };

// Parts of union perf_mem_data_src. A text may name several levels, as perf does: "L1 or L2".
struct DataSource {
  MemoryOp op = MemoryOp::kUnknown;
  std::string level;  // "L1", "L3", "LFB", "RAM", "PMEM", "CXL", "cache", "I/O", "uncached"; empty: unknown
  bool hit = false, miss = false;
  bool remote = false;  // in memory or a cache of another node
  bool locked = false;
  std::string snoop;        // "none", "hit", "miss", "hitm", "forward", "peer"; empty: unknown
  std::string translation;  // where the address translation was found: "L1", "L2", "walker", "fault"; empty: unknown
  bool translation_miss = false;
};
DataSource read_data_source(uint64_t value);

}  // namespace mlrun::decode
