// SPDX-License-Identifier: Apache-2.0
// The machine's page cache: the only machine-wide state that a sweep changes, and only if the plan asks for it.
#pragma once

#include "runner/util/result.h"

namespace mlrun::sweep {

// Whether this process has the right to drop the page cache. Changes nothing.
Status check_can_drop_caches();

// Calls sync, then writes 3 to /proc/sys/vm/drop_caches: drops clean pages, and cached names and inodes, of all file systems.
Status drop_caches();

}  // namespace mlrun::sweep
