// SPDX-License-Identifier: Apache-2.0
// A program of ours under a small `ulimit -s`: its work runs on a stack of its own.
#pragma once

#include <functional>

namespace mlrun::util {

// Runs `body` and returns what it returns; in a thread with a larger stack where that of the main thread may not grow to 1 MiB.
// `body` throws nothing.
int run_with_enough_stack(const std::function<int()>& body);

}  // namespace mlrun::util
