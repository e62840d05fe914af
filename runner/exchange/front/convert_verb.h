// SPDX-License-Identifier: Apache-2.0
// mlrun convert: what import reads, written as an OTF2 archive.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::exchange {

Result<int> convert_verb(const std::vector<std::string>& arguments);

}  // namespace mlrun::exchange
