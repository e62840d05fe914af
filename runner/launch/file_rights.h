// SPDX-License-Identifier: Apache-2.0
// The kernel refuses to execute a program, and says no more than EPERM, when the program's file gives capabilities that
// nobody may have here: those outside of the bounding set, as in most containers.
#pragma once

#include <string>

namespace mlrun::launch {

// What to tell of such a program, with what to do. Empty: its file is no reason to refuse it.
std::string rights_beyond_bounds(const std::string& program);

}  // namespace mlrun::launch
