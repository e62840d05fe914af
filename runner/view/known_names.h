// SPDX-License-Identifier: Apache-2.0
// The error about a name of a table or a column that is not there.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

// `what` with "; did you mean call? It has:", and below it the names, in lines that fit the terminal of standard error.
[[nodiscard]] tl::unexpected<Error> unknown_name(const std::string& what, const std::string& wrong,
                                                 const std::vector<std::string>& known);

// The error behind the name of the option that the name was given with.
[[nodiscard]] tl::unexpected<Error> of_option(const char* option, Error error);

}  // namespace mlrun::view
