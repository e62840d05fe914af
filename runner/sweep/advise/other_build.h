// SPDX-License-Identifier: Apache-2.0
// Translates signatures of callers to another build of a file than the recorded one: offsets differ there, function names are the same.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/advise/advice.h"

namespace mlrun::sweep {

struct OtherBuilds {
  std::vector<std::string> files;  // files that are another build than the recorded one, or are missing
  size_t by_name = 0;              // sites that are recognised by the names of functions
  size_t lost = 0;  // sites whose innermost function is not found: they remain as they are, and match nothing
};

// In the signatures, replaces each frame in a changed file by "BUILDID+FIRST-LAST": any address in the function of that name. A signature
// is cut before the first frame that is not found.
OtherBuilds find_in_other_builds(Advice& advice);

}  // namespace mlrun::sweep
