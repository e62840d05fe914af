// SPDX-License-Identifier: Apache-2.0
// Translates signatures of callers to another build of a file than the recorded one: offsets differ there, function names are the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runner/sweep/advise/advice.h"

namespace mlrun::sweep {

struct OtherBuilds {
  std::vector<std::string> files;  // files that are another build than the recorded one, or are missing
  size_t by_name = 0;              // sites that are recognised by the names of functions
  size_t cut = 0;                  // of by_name: sites whose signature now ends before a function that is not found
  size_t lost = 0;  // sites that are left out, since their innermost function in a changed file is not found
};

// In the signatures, replaces each frame in a changed file by "BUILDID+FIRST-LAST": any address in the function of that name. A signature
// is cut before the first frame that is not found. So signatures can be equal, or begin with another one.
OtherBuilds find_in_other_builds(NamedSites& sites);

// The same. If a file has changed, a prediction is removed: it was one for the recorded build.
OtherBuilds find_in_other_builds(Advice& advice);

// Lines for people about `sites` sites.
std::string builds_text(const OtherBuilds& others, size_t sites);

}  // namespace mlrun::sweep
