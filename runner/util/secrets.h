// SPDX-License-Identifier: Apache-2.0
// Masks secrets in a program's environment, arguments and texts before they are written or shown. Masks values with a
// secret's name (secret_names.h), user and password in addresses, values of headers such as "Authorization: Bearer X",
// and password options of known programs (`mysql -pX`, `curl -u X`). The rest of a text stays: "--password=***",
// "https://***:***@host/path". Other secrets cannot be recognised.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlrun::util {

inline constexpr std::string_view kMasked = "***";

// The value of an environment variable.
[[nodiscard]] std::string masked_value(std::string_view name, std::string_view value);

// Any text, for example an unsplit command line, a connection string, a document.
[[nodiscard]] std::string masked_text(std::string_view text);

// The arguments of a program, its name first. Keeps their number, and bytes that are not UTF-8.
[[nodiscard]] std::vector<std::string> masked_arguments(const std::vector<std::string>& arguments);

// The arguments of a program as one text with blanks between them. `arguments`: as in /proc/PID/cmdline, each ended by a
// zero byte.
[[nodiscard]] std::string masked_command_line(std::string_view arguments);

}  // namespace mlrun::util
