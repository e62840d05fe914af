// SPDX-License-Identifier: Apache-2.0
// Which processes this program may record. Started by root: all. Started by another user, with capabilities of its
// file: those that the user could trace anyway.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

struct Streams;

// Whether the user that started this program is root.
bool is_root();

// Fails, saying what to do, without both root's rights and the capabilities.
Status check_privilege();

// Fails for what only root may ask for.
Status check_scope(const Streams& streams);

// For the child that does the trial: like a process of the user, without the capabilities of our file.
void drop_capabilities();

// 0 or an errno: whether the process behind the pidfd belongs to our user and has no further rights. It may execute
// another program at once, so ask again after it is followed.
int may_follow(int pidfd);

}  // namespace mlrun::probes
