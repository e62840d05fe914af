// SPDX-License-Identifier: Apache-2.0
// The workers that feed the driver, how busy they were, and whether one of them holds up the others.
#pragma once

#include "runner/findings/context.h"

namespace mlrun::findings {

void find_workers(Context& context);
// What workers that were started later did for their first batch, if that took much longer than others, is their start.
void settle_fresh_workers(Context& context);

}  // namespace mlrun::findings
