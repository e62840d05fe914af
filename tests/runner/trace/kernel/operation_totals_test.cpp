// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/operation_totals.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

FileOpRow read_row(uint32_t flags, int64_t result) {
  FileOpRow row;
  row.ts_ns = 100;
  row.end_ns = 150;
  row.record.op = MLRUN_FILE_READ;
  row.record.flags = flags;
  row.record.result = result;
  return row;
}

TEST(OperationTotals, ARetriedIoUringOperationIsNotAFailedCall) {
  FileOpRow later = read_row(MLRUN_FILE_ASYNC | MLRUN_FILE_LATER, 0);
  later.done = Completion{160, -EAGAIN};
  for (const FileOpRow& row : {read_row(MLRUN_FILE_ASYNC, -EAGAIN), later}) {
    const auto totals = totals_of(row, false);
    ASSERT_TRUE(totals.has_value());
    EXPECT_EQ(totals->calls, 0);
    EXPECT_EQ(totals->read_calls, 0);
    EXPECT_EQ(totals->errors, 0);
    EXPECT_EQ(totals->time_ns, 50) << "the thread was at it";
  }
  EXPECT_EQ(totals_of(read_row(0, -EAGAIN), false)->errors, 1) << "preadv2 with RWF_NOWAIT";
  EXPECT_EQ(totals_of(read_row(MLRUN_FILE_ASYNC, -EIO), false)->errors, 1);
}

TEST(OperationTotals, AsynchronousOperationsAddOnlyBytesToTheCalls) {
  const auto totals = bytes_of_asynchronous(read_row(MLRUN_FILE_ASYNC, 4096));
  ASSERT_TRUE(totals.has_value());
  EXPECT_EQ(totals->bytes_read, 4096);
  EXPECT_EQ(totals->calls, 0);
  EXPECT_EQ(totals->time_ns, 0);
  FileOpRow later = read_row(MLRUN_FILE_ASYNC | MLRUN_FILE_LATER, 0);
  EXPECT_EQ(bytes_of_asynchronous(later)->bytes_read, 0) << "its end was not seen";
  later.done = Completion{160, 8192};
  EXPECT_EQ(bytes_of_asynchronous(later)->bytes_read, 8192);
  EXPECT_FALSE(bytes_of_asynchronous(read_row(0, 4096)).has_value()) << "in no call for another reason";
  FileOpRow inner = read_row(MLRUN_FILE_ASYNC, 4096);
  inner.record.outer = 7;
  EXPECT_FALSE(bytes_of_asynchronous(inner).has_value());
}

TEST(OperationTotals, AsynchronousOperationsHaveALineOfTheirOwnInTheSplit) {
  EXPECT_EQ(split_kind(read_row(MLRUN_FILE_ASYNC, 1).record), summary::SplitKind::kAsynchronous);
  EXPECT_EQ(split_kind(read_row(MLRUN_FILE_LATER, 0).record), summary::SplitKind::kAsynchronous);
  EXPECT_EQ(split_kind(read_row(0, 1).record), summary::SplitKind::kOperations);
}

}  // namespace
}  // namespace mlrun::trace
