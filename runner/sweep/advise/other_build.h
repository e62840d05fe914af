// SPDX-License-Identifier: Apache-2.0
// Signatures of callers where a file is another build than the one that was recorded: offsets are others there, and functions have the
// same names.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/advise/advice.h"

namespace mlrun::sweep {

struct OtherBuilds {
  std::vector<std::string> files;  // that are another build, or gone
  size_t by_name = 0;              // sites that are recognised by the names of functions
  size_t lost = 0;  // sites whose innermost function is not found: they remain as they are, and match nothing
};

// Replaces frames of files that have changed in the signatures by "BUILDID+FIRST-LAST", any address of the function of that name. A
// signature ends before a frame that is not found.
OtherBuilds find_in_other_builds(Advice& advice);

}  // namespace mlrun::sweep
