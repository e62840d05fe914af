// SPDX-License-Identifier: Apache-2.0
// memkind, for rules with `heap memkind`: the traced processes load it (preload/placement/memkind_heap.h).
#pragma once

#include "runner/util/result.h"

namespace mlrun::placement {

// Fails if it is not installed, and names the package.
Status check_memkind();

}  // namespace mlrun::placement
