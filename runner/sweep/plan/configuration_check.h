// SPDX-License-Identifier: Apache-2.0
// Checks each configuration by itself, and that no two have one name.
#pragma once

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

void check_configurations(Draft& draft);

}  // namespace mlrun::sweep
