// SPDX-License-Identifier: Apache-2.0
// What the command line of a program says that it is.
#pragma once

#include <string_view>

namespace mlrun::summary {

// The role of a process that was executed with this command line; empty: it says none. Arguments are separated by blanks.
[[nodiscard]] std::string_view started_as(std::string_view command);

// Was it started by multiprocessing (or a library made of it) to run a function of its parent's?
[[nodiscard]] bool is_spawned(std::string_view command);

}  // namespace mlrun::summary
