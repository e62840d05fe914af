// SPDX-License-Identifier: Apache-2.0
// The commands that would enable more on this machine: mlrun doctor --fix.
#pragma once

#include "runner/util/result.h"

namespace mlrun::commands {

// Prints the commands, their reason and how to undo them; with `runs` prints and runs each. Returns the program's exit
// status, 0 also when there is nothing to do. Fails with the command that failed.
Result<int> fix(bool runs);

}  // namespace mlrun::commands
