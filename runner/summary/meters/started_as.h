// SPDX-License-Identifier: Apache-2.0
// Roles from the command line of a program.
#pragma once

#include <string_view>

namespace mlrun::summary {

// The role of a process that was executed with this command line; empty: none. Arguments are separated by blanks.
[[nodiscard]] std::string_view started_as(std::string_view command);

// Whether multiprocessing, or a library derived from it, started the process to run a function of its parent.
[[nodiscard]] bool is_spawned(std::string_view command);

}  // namespace mlrun::summary
