// SPDX-License-Identifier: Apache-2.0
// Hints for a command that cannot be found: a value after a blank ("--preload files"), a mistyped verb, "help". A
// command that can be found is always run.
#pragma once

#include <optional>

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// `arguments`: those of mlrun, without the word "run". nullopt: the command exists, or there is no hint.
std::optional<Error> hint(const Arguments& arguments, const RunOptions& options);

}  // namespace mlrun::commands
