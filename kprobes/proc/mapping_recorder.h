// SPDX-License-Identifier: Apache-2.0
// Records the executable mappings of processes, for stacks that are walked after the run, when the processes may have
// ended.
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

  // `maps`: /proc/PID/maps, read at `time_ns`. Adds no record if the code is as it was in the last one.
  void record(uint32_t pid, std::string_view maps, uint64_t time_ns);

 private:
  void put(uint32_t pid, std::string_view lines, uint64_t time_ns);

  KernelSpool& spool_;
  std::map<uint32_t, size_t> recorded_;  // hash of the lines, by process
};

}  // namespace mlrun::probes
