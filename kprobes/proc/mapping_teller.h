// SPDX-License-Identifier: Apache-2.0
// Tells what processes have mapped as code, for stacks that are walked after the run, when the processes may be gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "kprobes/rings/kernel_spool.h"

namespace mlrun::probes {

class MappingTeller {
 public:
  // Requires: spool outlives it.
  explicit MappingTeller(KernelSpool& spool) : spool_(spool) {}

  // `maps`: what /proc/PID/maps said at `time_ns`. Nothing is told where the code is as it was told last.
  void tell(uint32_t pid, std::string_view maps, uint64_t time_ns);

 private:
  void put(uint32_t pid, std::string_view lines, uint64_t time_ns);

  KernelSpool& spool_;
  std::map<uint32_t, size_t> told_;  // hash of the lines, by process
};

}  // namespace mlrun::probes
