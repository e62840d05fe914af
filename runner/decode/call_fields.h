// SPDX-License-Identifier: Apache-2.0
// What the words of a call record mean for each function (runner/events/hooks.def), as columns of a call row.
#pragma once

#include "runner/decode/event_view.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

// Fills fd, requested, ret, err, flags, arg2, wanted_addr, served_calls, offset, offset_source, and offset2 of seeks. A call that moves the
// file position has kUnknown: where it began is found later (offset_tracker.h).
void fill_fields(const events::CallEvent& call, model::CallRow& row);

// What the call did to the position of its open file.
struct Motion {
  bool moves = false;   // reads or writes at it, and moves it by the result
  bool stdio = false;   // of a stream
  bool unseen = false;  // the stream may have moved it before
  int64_t by = 0;       // a seek of libc's own, from wherever it was
};
Motion motion_of(const events::CallEvent& call);

}  // namespace mlrun::trace
