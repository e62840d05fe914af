// SPDX-License-Identifier: Apache-2.0
// Whether the programs can be loaded at all, and if not, why: said before the kernel says it with a number.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

// Fails with one line that names what is missing and what to do.
Status check_ability();

}  // namespace mlrun::probes
