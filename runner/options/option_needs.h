// SPDX-License-Identifier: Apache-2.0
// What each option of `run` applies to: a command that mlrun starts, events, or a stream. Giving an option is an error if what it
// applies to is not started or not recorded.
#pragma once

#include <string>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// The first given option that applies to a command that mlrun starts, or to the library in it; empty: none is given.
std::string option_of_commands(const RunTexts& texts, const RunOptions& options);

// Fails if a given option applies to something that is not recorded. Requires: read_streams.
Status check_needs(const RunTexts& texts, const RunOptions& options);

}  // namespace mlrun
