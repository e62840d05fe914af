// SPDX-License-Identifier: Apache-2.0
// The error about an unknown table or column.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

// Appends "; did you mean call? It has:" to `what`, and below it the known names, in lines that fit the terminal of standard error.
[[nodiscard]] tl::unexpected<Error> unknown_name(const std::string& what, const std::string& wrong,
                                                 const std::vector<std::string>& known);

// Puts the option that contained the wrong name before the error.
[[nodiscard]] tl::unexpected<Error> of_option(const char* option, Error error);

}  // namespace mlrun::view
