// SPDX-License-Identifier: Apache-2.0
// Checks whether the BPF programs can be loaded on this machine by this user. Gives a clear reason where the kernel
// would give only an errno.
#pragma once

#include "runner/util/result.h"

namespace mlrun::probes {

// Fails with one line that names what is missing and what to do.
Status check_ability();

}  // namespace mlrun::probes
