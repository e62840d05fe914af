// SPDX-License-Identifier: Apache-2.0
// The time until which the kernel side recorded if it did not end normally, because mlrun or mlrun-probes was killed.
// The time after that is a gap, as when a ring was full: a call or operation that extends into it is not split.
#pragma once

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

class KernelEnd {
 public:
  explicit KernelEnd(const SessionInfo& session);

  // Whether the kernel side began to record. Otherwise the time of calls is not split.
  [[nodiscard]] bool has_begun() const { return began_; }

  // Called for each record, in any order.
  void note(const mlrun_kernel_head& head);

  // The gap at its end, after the last record; nullptr: none.
  [[nodiscard]] const mlrun_kernel_loss* gap() const { return reason_ == nullptr ? nullptr : &gap_; }
  // Requires: the other losses were added.
  void add_row(model::TraceInfo& info) const;

 private:
  const SessionInfo& session_;
  bool began_ = false;
  const char* reason_ = nullptr;
  mlrun_kernel_loss gap_{};
};

}  // namespace mlrun::trace
