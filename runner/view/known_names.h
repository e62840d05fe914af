// SPDX-License-Identifier: Apache-2.0
// The error about an unknown table or column.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

// `what` with "; did you mean call? It has:", and below it the names, in lines that fit the terminal of standard error.
[[nodiscard]] tl::unexpected<Error> unknown_name(const std::string& what, const std::string& wrong,
                                                 const std::vector<std::string>& known);

// The error after the name of the option that had the name.
[[nodiscard]] tl::unexpected<Error> of_option(const char* option, Error error);

}  // namespace mlrun::view
