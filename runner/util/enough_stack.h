// SPDX-License-Identifier: Apache-2.0
// Runs the work of our programs on a stack that is large enough under a small `ulimit -s`.
#pragma once

#include <functional>

namespace mlrun::util {

// Runs `body` and returns its result; in a new thread with a larger stack if the main thread's may not grow to 1 MiB.
// The main thread then takes no signals. `body` must not throw.
int run_with_enough_stack(const std::function<int()>& body);

}  // namespace mlrun::util
