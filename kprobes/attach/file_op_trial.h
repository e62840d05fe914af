// SPDX-License-Identifier: Apache-2.0
// The trial: does each operation on files once, on an unnamed file in memory, to detect probes that attach but do not
// fire. Makes no disk I/O.
#pragma once

#include <functional>

#include "runner/util/result.h"

namespace mlrun::probes {

// Does the operations in a child process. `follow` gets the child's pidfd before the first one, and returns 0 or an
// errno. Page faults, clones and asynchronous completions are not tried. Removals and renames are tried on a missing
// name, mkdir on an existing folder: a failed call is an operation, too.
Status try_file_ops(const std::function<int(int pidfd)>& follow);

}  // namespace mlrun::probes
