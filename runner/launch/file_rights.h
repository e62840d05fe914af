// SPDX-License-Identifier: Apache-2.0
// The kernel refuses to execute a program, with just EPERM, when its file grants capabilities outside of the bounding
// set, as in most containers.
#pragma once

#include <string>

namespace mlrun::launch {

// A message about such a program, with what to do. Empty: its file grants none of these.
std::string rights_beyond_bounds(const std::string& program);

}  // namespace mlrun::launch
