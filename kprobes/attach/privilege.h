// SPDX-License-Identifier: Apache-2.0
// Which processes mlrun-probes may record: all, if root started it; if another user started it, and it has file
// capabilities, those that this user may trace anyway.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

struct Streams;

// Whether the user that started this program is root.
bool is_root();

// Fails without root's rights or the file capabilities. The message says what to do.
Status check_privilege();

// Fails if a user other than root requests something that only root may.
Status check_scope(const Streams& streams);

// Called in the child that does the trial: then it has the rights of the user's processes, without file capabilities.
void drop_capabilities();

// 0: the user of mlrun-probes is root, or the process of the pidfd belongs to that user and has no further rights; else
// an errno. The process may execute another program at once, so call this again after its flag is set.
int may_follow(int pidfd);

}  // namespace mlrun::probes
