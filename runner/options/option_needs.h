// SPDX-License-Identifier: Apache-2.0
// What each option of `run` is about. Where that is not recorded, the option has no effect, and giving it is an error.
#pragma once

#include <string>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// The first given option about a command that mlrun starts, or the library in it; empty: none is given.
std::string option_of_commands(const RunTexts& texts, const RunOptions& options);

// Fails if a given option is about what is not recorded. Requires: read_streams.
Status check_needs(const RunTexts& texts, const RunOptions& options);

}  // namespace mlrun
