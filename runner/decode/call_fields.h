// SPDX-License-Identifier: Apache-2.0
// Converts the words of a call record to the columns of a call row; hooks.def defines the words of each function.
#pragma once

#include "runner/decode/event_view.h"
#include "runner/model/rows.h"

namespace mlrun::decode {

// Fills fd, requested, ret, err, flags, arg2, wanted_addr, served_calls, offset, offset_source, and offset2 of seeks.
// A call that moves the file position gets kUnknown: offset_tracker.h derives its offset later.
void fill_fields(const CallEvent& call, model::CallRow& row);

// The thread that ended a wait, by its number within the process; 0: unknown, the wait failed, or the call is not a wait.
uint32_t ender_of(const CallEvent& call);

// How a call changed the position of its open file.
struct Motion {
  bool moves = false;   // reads or writes at the position and advances it by the result
  bool stdio = false;   // a call on a FILE stream
  bool unseen = false;  // an unseen call on the stream may have moved the position before this call
  int64_t by = 0;       // of a seek that libc made by itself: distance from the kernel's position before it
};
Motion motion_of(const CallEvent& call);

}  // namespace mlrun::decode
