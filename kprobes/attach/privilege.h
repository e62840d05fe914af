// SPDX-License-Identifier: Apache-2.0
// Whom this program may look at. Started by root: everybody. Started by another user, with the capabilities of its file: processes
// that this user could trace anyway.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

struct Streams;

// Whether the user that started us is root.
bool is_root();

// Fails with what to do when we have neither root's rights nor the capabilities.
Status check_privilege();

// Fails for what root alone may ask for.
Status check_scope(const Streams& streams);

// In a child that does what is to be seen, as a process of our user's would: without the capabilities of our file.
void drop_capabilities();

// 0, or an errno: whether the process behind the pidfd is one of our user's own, with no rights beyond his. It may execute
// another program at once: to be asked again when it is followed.
int may_follow(int pidfd);

}  // namespace mlrun::probes
