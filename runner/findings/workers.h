// SPDX-License-Identifier: Apache-2.0
// Finds the workers that feed the driver, how busy they were, and whether one of them holds up the others.
#pragma once

#include "runner/findings/context.h"

namespace mlrun::findings {

void find_workers(Context& context);
// If workers that were started later needed much longer for their first batch than is usual, the driver's waiting for it gets the cause
// kWorkerStartup.
void settle_fresh_workers(Context& context);

}  // namespace mlrun::findings
