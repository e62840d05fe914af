// SPDX-License-Identifier: Apache-2.0
// Does each operation on files once, on a file that lies in memory and has no name, so that a probe of it that attaches
// and does not fire is found out. Nothing of any disk is touched.
#pragma once

#include <functional>

#include "runner/util/result.h"

namespace mlrun::probes {

// In a child, which `follow` is told of (its pidfd; 0 or the errno) before it begins. Page faults are not among them, and
// what does not exist cannot be removed: those calls fail, and that is an operation, too.
Status try_file_ops(const std::function<int(int pidfd)>& follow);

}  // namespace mlrun::probes
