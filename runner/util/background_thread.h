// SPDX-License-Identifier: Apache-2.0
// A thread that nobody waits for: what it is stuck in (a driver, another process's memory) does not hold up the run.
#pragma once

#include <functional>
#include <string>

namespace mlrun::util {

// Starts `body` in a thread of its own, in which no signal is delivered: those of mlrun are for its main thread. `body` keeps
// what it needs alive by itself. Returns why no thread could be started; empty: it runs.
std::string start_background_thread(std::function<void()> body);

}  // namespace mlrun::util
