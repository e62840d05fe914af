// SPDX-License-Identifier: Apache-2.0
// Up to when the kernel side has recorded where it did not come to its end: mlrun was killed, or mlrun-probes was. What came
// after is a stretch of time of which nothing is known, as one is in which a ring was full: a call or operation that reaches into
// it is not split.
#pragma once

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

class KernelEnd {
 public:
  explicit KernelEnd(const SessionInfo& session);

  // It began to record: there is something to be split by.
  [[nodiscard]] bool has_begun() const { return began_; }

  // Each record, in any order.
  void note(const mlrun_kernel_head& head);

  // What is missing at its end, after the last record; nullptr: nothing.
  [[nodiscard]] const mlrun_kernel_loss* gap() const { return reason_ == nullptr ? nullptr : &gap_; }
  // Requires: the other losses are there.
  void add_row(model::TraceInfo& info) const;

 private:
  const SessionInfo& session_;
  bool began_ = false;
  const char* reason_ = nullptr;
  mlrun_kernel_loss gap_{};
};

}  // namespace mlrun::trace
