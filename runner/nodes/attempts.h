// SPDX-License-Identifier: Apache-2.0
// Ranks that were started several times in one trace: by torchrun after a failure, which ends all and starts them again, or as a second
// training of one script. What ranks do together is compared within one attempt.
#pragma once

#include <vector>

#include "runner/nodes/node_trace.h"

namespace mlrun::nodes {

// Sets the ranks' attempts.
void number_attempts(NodeTrace& node);

// Sets the ranks' ages: which attempts of several nodes are one.
void match_attempts(std::vector<NodeTrace>& nodes);

// Chooses the attempt whose ranks are compared, with a line where there are several.
void choose_attempt(NodeTraces& traces);

}  // namespace mlrun::nodes
