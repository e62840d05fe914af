// SPDX-License-Identifier: Apache-2.0
#include "kprobes/loss_watch.h"

namespace mlrun::probes {

void LossWatch::look(uint64_t now_ns) {
  for (uint32_t kind = 0; kind < MLRUN_KERNEL_KINDS; kind++) {
    for (uint32_t reason = MLRUN_KERNEL_LOSS_RING; reason <= MLRUN_KERNEL_LOSS_OPEN; reason++) look_at(kind, reason);
  }
  look_at(MLRUN_KERNEL_PART, MLRUN_KERNEL_LOSS_WRITER);
  look_at(MLRUN_KERNEL_PART, MLRUN_KERNEL_LOSS_PLACE);
  last_look_ns_ = now_ns;
}

void LossWatch::look_at(uint32_t kind, uint32_t reason) {
  const auto losses = probes_.losses(kind, reason);
  for (size_t cpu = 0; cpu < losses.size(); cpu++) {
    if (losses[cpu].count == 0) continue;
    uint64_t& told = told_[{kind, reason, cpu}];
    const uint64_t count = losses[cpu].count - told;
    if (count == 0) continue;
    told += count;
    tell(kind, reason, static_cast<uint32_t>(cpu), count, losses[cpu].last_ns);
  }
}

void LossWatch::finish(uint64_t now_ns) {
  look(now_ns);
  if (const uint64_t open = probes_.open_bios(); open != 0) {
    tell(MLRUN_KERNEL_PART, MLRUN_KERNEL_LOSS_OPEN, 0, open, now_ns);
  }
  if (const uint64_t unknown = probes_.unknown_operations(); unknown != 0) {
    tell(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_RING, 0, unknown, now_ns);
  }
}

void LossWatch::tell(uint32_t kind, uint32_t reason, uint32_t cpu, uint64_t count, uint64_t last_ns) {
  lost_ += count;
  mlrun_kernel_loss record{};
  record.head.kind = MLRUN_KERNEL_LOSS;
  record.head.bytes = sizeof record;
  record.head.cpu = cpu;
  record.head.time_ns = last_ns;
  record.first_ns = last_look_ns_;
  record.count = count;
  record.of_kind = kind;
  record.reason = reason;
  spool_.add(&record, sizeof record, record.head.time_ns);
}

}  // namespace mlrun::probes
