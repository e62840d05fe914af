// SPDX-License-Identifier: Apache-2.0
// The time until which the kernel side recorded waits, if it ended early, because mlrun or mlrun-probes was killed. The
// time after it is a gap, as when a ring was full: the time of a call or operation that extends into the gap is not split.
#pragma once

#include "runner/events/kernel_record.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class KernelEnd {
 public:
  explicit KernelEnd(const model::Run& session);

  // Whether the kernel side began to record. If not, the time of calls is not split.
  [[nodiscard]] bool has_begun() const { return began_; }

  // Called for each record, in any order.
  void note(const mlrun_kernel_head& head);

  // The gap after the last recorded wait; nullptr: the kernel side ended normally, or did not begin.
  [[nodiscard]] const mlrun_kernel_loss* gap() const { return reason_ == nullptr ? nullptr : &gap_; }
  // Adds the row of `loss`, which ends at the last known time. Requires: info.losses has all other losses.
  void add_row(model::TraceInfo& info) const;

 private:
  const model::Run& session_;
  bool began_ = false;
  const char* reason_ = nullptr;
  mlrun_kernel_loss gap_{};
};

}  // namespace mlrun::trace
