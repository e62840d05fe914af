// SPDX-License-Identifier: Apache-2.0
// What an operation of the kernel adds to the figures of its process and file, where no library has told of the call that it is of, and
// to which line of the split its time goes then.
#pragma once

#include <optional>

#include "runner/summary/summary.h"
#include "runner/trace/kernel/file_op_table.h"

namespace mlrun::trace {

// Nothing: it is no call of the program's (a page fault, a clone), or lies in one that counts. `by_system_calls`: these tell of operations,
// and what a copy writes lies in what it reads.
std::optional<summary::Totals> totals_of(const FileOpRow& row, bool by_system_calls);

// Where calls count: what Linux's own asynchronous I/O and io_uring moved is in none of them. Its bytes alone; nothing of others.
std::optional<summary::Totals> bytes_of_asynchronous(const FileOpRow& row);

// Of an operation that lies in no call.
summary::SplitKind split_kind(const mlrun_file_op& record);

}  // namespace mlrun::trace
