// SPDX-License-Identifier: Apache-2.0
// What the kernel side recorded in this run: the attached signals, their mechanism, and whether they were recorded to
// the end. This may be less than was requested.
#pragma once

#include <string>

#include "runner/model/run.h"

namespace mlrun::trace {

// Whether page faults of mapped files, and io_uring and aio I/O, are recorded as file operations. The system call
// fallback records neither.
bool records_faults(const model::Run& session);
bool records_asynchronous_io(const model::Run& session);

// The end of a detail about activity that the kernel side can record: why it did not, or how to find out whether it can.
std::string kernel_side_hint(const model::Run& session);

}  // namespace mlrun::trace
