// SPDX-License-Identifier: Apache-2.0
// What a kernel file operation adds to the totals of its process and file in runs without recorded calls, and the line
// of the time split that it belongs to.
#pragma once

#include <optional>

#include "runner/summary/summary.h"
#include "runner/trace/kernel/file_op_table.h"

namespace mlrun::trace {

// nullopt: the operation is not a call of the program (a page fault, a clone), or is inside one that counts.
// `by_system_calls`: operations were recorded by system calls; the write end of a copy is then inside its read end.
std::optional<summary::Totals> totals_of(const FileOpRow& row, bool by_system_calls);

// For runs with recorded calls: the bytes of an operation of Linux's aio or io_uring, which are in no call. nullopt for
// other operations.
std::optional<summary::Totals> bytes_of_asynchronous(const FileOpRow& row);

// The line of the time split for an operation that is inside no recorded call.
summary::SplitKind split_kind(const mlrun_file_op& record);

}  // namespace mlrun::trace
