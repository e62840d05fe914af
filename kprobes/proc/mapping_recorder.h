// SPDX-License-Identifier: Apache-2.0
// Records the executable mappings of processes. The merger needs them to walk stacks after the run, when the processes
// may have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "kprobes/rings/kernel_spool.h"

namespace mlrun::probes {

class MappingRecorder {
 public:
  // Requires: spool outlives it.
  explicit MappingRecorder(KernelSpool& spool) : spool_(spool) {}

  // `maps`: /proc/PID/maps, read at `time_ns`. Adds no record if the executable mappings are those of the process's
  // last record.
  void record(uint32_t pid, std::string_view maps, uint64_t time_ns);

 private:
  void put(uint32_t pid, std::string_view lines, uint64_t time_ns);

  KernelSpool& spool_;
  std::map<uint32_t, size_t> recorded_;  // by pid: hash of the mappings last recorded
};

}  // namespace mlrun::probes
