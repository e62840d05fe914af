// SPDX-License-Identifier: Apache-2.0
// What the kernel side recorded in this run: what was attached, by what, and delivered to the end. What was asked for says
// nothing of it.
#pragma once

#include <string>
#include <string_view>

#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// How a signal (kprobes/signals.h) was attached: "tracepoint", "fentry", …; empty: it was not.
std::string attached_by(const SessionInfo& session, std::string_view signal);

// The same where it was recorded to the end; else empty.
std::string mechanism_of(const SessionInfo& session, std::string_view signal);

// Page faults of mapped files, and what io_uring and aio read and write, as operations on files. System calls that stand in
// for operations have neither.
bool records_faults(const SessionInfo& session);
bool records_asynchronous_io(const SessionInfo& session);

// For a row about something that the kernel side would record: whether it would do so here.
std::string kernel_side_hint(const SessionInfo& session);

}  // namespace mlrun::trace
