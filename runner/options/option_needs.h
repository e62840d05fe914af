// SPDX-License-Identifier: Apache-2.0
// The events or the stream that each option of `run` applies to. If these are not recorded, the option would have no effect, and giving
// it is an error.
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
