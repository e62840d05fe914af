// SPDX-License-Identifier: Apache-2.0
// Finds the workers that feed the driver, how busy they were, and whether one of them holds up the others.
#pragma once

#include "runner/findings/context.h"

namespace mlrun::findings {

void find_workers(Context& context);
// Workers that were started later may need much longer for their first batch: that time becomes the cause kWorkerStartup.
void settle_fresh_workers(Context& context);

}  // namespace mlrun::findings
