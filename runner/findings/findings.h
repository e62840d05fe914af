// SPDX-License-Identifier: Apache-2.0
// Ranks the causes for which a run was slow by the time that they explain.
#pragma once

#include <string>

#include "runner/blame/analyse.h"
#include "runner/findings/context.h"
#include "runner/util/result.h"

namespace mlrun::findings {

// Fills the findings of the answer. Requires: `folder` contains the trace's tables/.
Context find(blame::Analysis& analysis, const std::string& folder, const Machine& machine);

// Writes table `blame`: the pieces of the driver's time.
Status write_blame(const Context& context, const std::string& folder);
// Writes an empty table `blame`.
Status write_no_blame(const std::string& folder);

}  // namespace mlrun::findings
