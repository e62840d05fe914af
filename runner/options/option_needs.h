// SPDX-License-Identifier: Apache-2.0
// What each option of `run` needs and excludes: a command that mlrun starts, events, a stream, or that another option is not given.
// Giving an option is an error if what it needs is not there.
#pragma once

#include <string>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// The first given option that applies to a command that mlrun starts, or to the library in it; empty: none is given.
std::string option_of_commands(const RunTexts& texts, const RunOptions& options);

// Fails if something that a given option needs is not there. Requires: read_streams, read_access.
Status check_needs(const RunTexts& texts, const RunOptions& options);

}  // namespace mlrun
