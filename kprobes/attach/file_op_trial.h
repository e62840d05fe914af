// SPDX-License-Identifier: Apache-2.0
// Does each operation on files once, on an unnamed file in memory, to detect probes that attach but do not fire.
// Touches no disk.
#pragma once

#include <functional>

#include "runner/util/result.h"

namespace mlrun::probes {

// Runs in a child. `follow` gets the child's pidfd before the first operation, and returns 0 or an errno. Page faults
// are not tried. Removals of missing files fail, which is an operation too.
Status try_file_ops(const std::function<int(int pidfd)>& follow);

}  // namespace mlrun::probes
