// SPDX-License-Identifier: Apache-2.0
// The environment that the command and all its descendants inherit.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mlrun::launch {

// LD_PRELOAD with our library first, but behind an address sanitizer's run-time, which insists on being first. Other
// entries stay, in their order; another copy of ours goes.
std::string preload_value(std::string_view existing, const std::string& library);

// "NAME=value" strings: `environment` (null-terminated) with both variables set.
std::vector<std::string> traced_environment(char** environment, const std::string& library, const std::string& session);

// Variables by name, as text; the values of those that look like secrets are replaced by "(hidden)".
std::map<std::string, std::string> shown_environment(char** environment);

}  // namespace mlrun::launch
