// SPDX-License-Identifier: Apache-2.0
// The machine's page cache: the only thing of the machine that a sweep changes, where the plan asks for it.
#pragma once

#include "runner/util/result.h"

namespace mlrun::sweep {

// Whether this process may drop it. Changes nothing.
Status check_can_drop_caches();

// sync, then 3 into /proc/sys/vm/drop_caches: clean pages, and the kernel's cached names and inodes, of all file systems.
Status drop_caches();

}  // namespace mlrun::sweep
