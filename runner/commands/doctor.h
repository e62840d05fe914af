// SPDX-License-Identifier: Apache-2.0
// mlrun doctor: what works on this machine, what does not, and how to fix it.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> doctor(const Arguments& arguments);

}  // namespace mlrun::commands
