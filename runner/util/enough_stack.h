// SPDX-License-Identifier: Apache-2.0
// For our programs under a small `ulimit -s`: runs the work on a stack of its own.
#pragma once

#include <functional>

namespace mlrun::util {

// Runs `body` and returns its result; in a thread with a larger stack if the main thread's may not grow to 1 MiB.
// `body` must not throw.
int run_with_enough_stack(const std::function<int()>& body);

}  // namespace mlrun::util
