// SPDX-License-Identifier: Apache-2.0
// What the analysis takes a function of table `call` for.
#pragma once

#include <string_view>

#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct Use {
  CallGroup group = CallGroup::kOther;
  WaitKind wait = WaitKind::kOther;
  bool waits = false;      // the call is always a wait
  bool may_block = false;  // the call is a wait if it blocks on a channel (pipe, socket or eventfd)
  bool joins = false, condition = false, timed = false, opens = false, stats = false, moves_in = false,
       moves_out = false;
  bool connects = false, accepts = false, pairs = false, flushes = false, maps = false, controls = false;
};

Use use_of(std::string_view name);

}  // namespace mlrun::blame
