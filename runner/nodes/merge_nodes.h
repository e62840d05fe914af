// SPDX-License-Identifier: Apache-2.0
// The verb `mlrun merge TRACE... -o NEW`: traces of several nodes, or a run and an imported trace, as one.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::nodes {

Result<int> merge_nodes(const std::vector<std::string>& arguments);

}  // namespace mlrun::nodes
