// SPDX-License-Identifier: Apache-2.0
// What of a program's environment and arguments is not for others' eyes: values whose name looks like a secret's. A value
// that no name stands before (`-p hunter2`) cannot be told from any other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlrun::launch {

inline constexpr std::string_view kHidden = "(hidden)";

// KEY, TOKEN, SECRET, PASSW, PASSP, CREDENTIAL or AUTH in it, in capitals or not.
bool looks_secret(std::string_view name);

// The arguments as one text with spaces between, valid UTF-8. What follows such a name within an argument is hidden
// ("--api-key=X", "Authorization: X", "http://host/?token=X"), as is the argument after it ("--api-key X") and what
// stands before the last "@" of each address ("https://user:X@host").
std::string shown_arguments(const std::vector<std::string>& arguments);

}  // namespace mlrun::launch
