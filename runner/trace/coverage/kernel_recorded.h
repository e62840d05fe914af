// SPDX-License-Identifier: Apache-2.0
// What the kernel side recorded in this run: the attached signals, their mechanism, and whether they were recorded to
// the end. This may be less than was requested.
#pragma once

#include <string>
#include <string_view>

#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// The mechanism by which a signal (kprobes/signals.h) was recorded to the end of the run: "tracepoint", "fentry", …;
// empty: it was not.
std::string mechanism_of(const SessionInfo& session, std::string_view signal);

// Whether page faults of mapped files, and io_uring and aio I/O, are recorded as file operations. The system call
// fallback records neither.
bool records_faults(const SessionInfo& session);
bool records_asynchronous_io(const SessionInfo& session);

// The end of a detail about activity that the kernel side can record: why it did not, or how to find out whether it can.
std::string kernel_side_hint(const SessionInfo& session);

}  // namespace mlrun::trace
