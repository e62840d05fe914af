// SPDX-License-Identifier: Apache-2.0
// A detached thread, for calls that may block (in a driver, on another process's memory) and must not delay the run.
#pragma once

#include <functional>
#include <string>

namespace mlrun::util {

// Starts `body` in a thread with all signals blocked: mlrun's signals are for its main thread. `body` must own all data
// that it uses: it may outlive the caller. Returns why no thread could be started; empty: it runs.
std::string start_background_thread(std::function<void()> body);

}  // namespace mlrun::util
