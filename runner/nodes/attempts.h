// SPDX-License-Identifier: Apache-2.0
// Ranks that were started several times in one trace: by torchrun, which after a failure ends all ranks and starts them again, or by a
// script that trains twice. Ranks are compared only within one attempt.
#pragma once

#include <vector>

#include "runner/nodes/node_trace.h"

namespace mlrun::nodes {

// Sets Rank::attempt of all ranks of the node.
void number_attempts(NodeTrace& node);

// Sets Rank::age of all ranks: equal where the attempts of several nodes are the same one.
void match_attempts(std::vector<NodeTrace>& nodes);

// Chooses the attempt whose ranks are compared; if there are several, adds a line to traces.problems.
void choose_attempt(NodeTraces& traces);

}  // namespace mlrun::nodes
