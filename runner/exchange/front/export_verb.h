// SPDX-License-Identifier: Apache-2.0
// mlrun export: a trace in a format that other tools read.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::exchange {

// `arguments`: the words after the verb. Returns the exit status.
Result<int> export_verb(const std::vector<std::string>& arguments);

}  // namespace mlrun::exchange
