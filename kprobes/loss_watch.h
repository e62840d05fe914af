// SPDX-License-Identifier: Apache-2.0
// Turns loss counters into records: for each processor, kind and reason, how much was lost between two reads, and when.
#pragma once

#include <cstdint>
#include <map>

#include "kprobes/attach/probes.h"
#include "kprobes/rings/kernel_spool.h"

namespace mlrun::probes {

class LossWatch {
 public:
  // `since_ns`: a time before which nothing can have been lost.
  LossWatch(const Probes& probes, KernelSpool& spool, uint64_t since_ns)
      : probes_(probes), spool_(spool), last_read_ns_(since_ns) {}

  // Requires: now_ns never decreases.
  void read(uint64_t now_ns);

  // Called once after recording has stopped: also counts bios whose completion was not seen, and short records that
  // could not be expanded.
  void finish(uint64_t now_ns);

  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  void read_counters(uint32_t kind, uint32_t reason);
  void report(uint32_t kind, uint32_t reason, uint32_t cpu, uint64_t count, uint64_t last_ns);

  const Probes& probes_;
  KernelSpool& spool_;
  std::map<size_t, uint64_t> reported_;  // reported counts by index
  uint64_t last_read_ns_;
  uint64_t lost_ = 0;
};

}  // namespace mlrun::probes
