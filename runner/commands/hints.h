// SPDX-License-Identifier: Apache-2.0
// A command that cannot be found, where another thing was meant: a value behind a blank ("--preload files"), a mistyped verb,
// "help". A command that can be found is never taken for any of these.
#pragma once

#include <optional>

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// `arguments`: those of mlrun, without the word "run". Nothing: the command is there, or nothing else seems to be meant.
std::optional<Error> hint(const Arguments& arguments, const RunOptions& options);

}  // namespace mlrun::commands
