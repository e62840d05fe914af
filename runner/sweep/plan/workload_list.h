// SPDX-License-Identifier: Apache-2.0
// workloads × parameters: the workloads of a plan with the values of the matrix.
#pragma once

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

// Fills `plan.workloads` and `plan.defaults`. Requires: the draft's configurations are checked by themselves.
void list_workloads(Draft& draft);

}  // namespace mlrun::sweep
