// SPDX-License-Identifier: Apache-2.0
// What the words of a call record mean for each function (runner/events/hooks.def), as columns of a call row.
#pragma once

#include "runner/events/event_view.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

// Fills fd, requested, ret, err, flags, arg2, wanted_addr, served_calls, offset and offset_source. A call that moves the
// file position has kUnknown: where it began is found later (offset_tracker.h).
void fill_fields(const events::CallEvent& call, model::CallRow& row);

// Reads or writes at the position of the open file, and moves it by the result.
bool moves_position(const events::CallEvent& call);

}  // namespace mlrun::trace
