// SPDX-License-Identifier: Apache-2.0
// What a person would have to run so that more works here: mlrun doctor --fix.
#pragma once

#include "runner/util/result.h"

namespace mlrun::commands {

// Prints what may be done, why and how to undo it; runs it when `runs` is true, each command printed before. Returns the
// program's exit status: 0 also when there is nothing to do. Fails with the command that did not work.
Result<int> fix(bool runs);

}  // namespace mlrun::commands
