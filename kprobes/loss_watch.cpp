// SPDX-License-Identifier: Apache-2.0
#include "kprobes/loss_watch.h"

#include <cstddef>
#include <utility>

namespace mlrun::probes {

void LossWatch::read(uint64_t now_ns) {
  for (uint32_t kind = 0; kind < MLRUN_KERNEL_KINDS; kind++) {
    for (uint32_t reason = MLRUN_KERNEL_LOSS_RING; reason <= MLRUN_KERNEL_LOSS_OPEN; reason++)
      read_counters(kind, reason);
  }
  read_counters(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_WRITER);
  read_counters(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_PLACE);
  last_read_ns_ = now_ns;
}

void LossWatch::read_counters(uint32_t kind, uint32_t reason) {
  const MappedArray& losses = probes_.losses();
  for (size_t cpu = 0; cpu < losses.size() / MLRUN_PROBE_LOSSES; cpu++) {
    const size_t index = cpu * MLRUN_PROBE_LOSSES + kind * MLRUN_PROBE_REASONS + reason;
    const uint64_t all = losses.word(index, offsetof(mlrun_probe_loss, count));
    if (all == 0) continue;
    const uint64_t count = all - std::exchange(reported_[index], all);
    if (count != 0)
      report(kind, reason, static_cast<uint32_t>(cpu), count, losses.word(index, offsetof(mlrun_probe_loss, last_ns)));
  }
}

void LossWatch::finish(uint64_t now_ns) {
  read(now_ns);
  if (const uint64_t open = probes_.open_bios(); open != 0) {
    report(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_OPEN, 0, open, now_ns);
  }
  if (const uint64_t unknown = probes_.unknown_operations(); unknown != 0) {
    report(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_RING, 0, unknown, now_ns);
  }
}

void LossWatch::report(uint32_t kind, uint32_t reason, uint32_t cpu, uint64_t count, uint64_t last_ns) {
  lost_ += count;
  mlrun_kernel_loss record{};
  record.head.kind = MLRUN_KERNEL_LOSS;
  record.head.bytes = sizeof record;
  record.head.cpu = cpu;
  record.head.time_ns = last_ns;
  record.first_ns = last_read_ns_;
  record.count = count;
  record.of_kind = kind;
  record.reason = reason;
  spool_.add(&record, sizeof record, record.head.time_ns);
}

}  // namespace mlrun::probes
