// SPDX-License-Identifier: Apache-2.0
// Whether the programs can be loaded at all, and if not, why: a clear reason before the kernel gives only an errno.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

// Fails with one line that names what is missing and what to do.
Status check_ability();

}  // namespace mlrun::probes
