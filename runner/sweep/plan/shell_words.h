// SPDX-License-Identifier: Apache-2.0
// A command line as words, quoted as for a shell. No shell is started: what one would expand ($NAME, `...`, ~) or redirect is an error, unless quotes
// or a backslash keep a shell from that.
#pragma once

#include <string>
#include <string_view>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

Result<Words> shell_words(std::string_view text);

}  // namespace mlrun::sweep
