// SPDX-License-Identifier: Apache-2.0
// The end of an error about a name of a table or a column that is not there.
#pragma once

#include <string>
#include <vector>

namespace mlrun::view {

// "; did you mean call? It has:" and the names, in lines that fit the terminal of standard error.
[[nodiscard]] std::string known_names(const std::string& wrong, const std::vector<std::string>& known);

}  // namespace mlrun::view
