// SPDX-License-Identifier: Apache-2.0
// Tests the expansion of short records of file operations. Tests with real operations (tests/e2e/t925,
// tests/vm/kernel_side) check that the BPF programs write them in this format.
#include "kprobes/rings/whole_records.h"

#include <optional>

#include <gtest/gtest.h>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {
namespace {

constexpr uint64_t kOneSecond = 1000000000;
constexpr uint32_t kPid = 40, kTid = 41;

// The number of a thread's n-th operation.
uint64_t number(uint64_t n, uint32_t tid = kTid) { return n << MLRUN_OPERATION_STEP_SHIFT | tid; }

mlrun_file_op whole_one(uint64_t n, uint64_t time_ns, uint32_t tid = kTid) {
  mlrun_file_op operation{};
  operation.head = {MLRUN_KERNEL_FILE_OP, sizeof operation, 3, time_ns, kPid, tid};
  operation.begin_ns = time_ns - 700;
  operation.operation = number(n, tid);
  operation.inode = 1234;
  operation.device = 56;
  operation.op = MLRUN_FILE_OPEN;
  operation.flags = MLRUN_FILE_CREATED;
  return operation;
}

mlrun_short_file_op short_read(uint8_t step, uint64_t time_ns, uint64_t offset, int32_t result, uint64_t rest) {
  mlrun_short_file_op operation{};
  operation.kind = MLRUN_SHORT_FILE_OP;
  operation.op = MLRUN_FILE_READ;
  operation.flags = MLRUN_FILE_DIRECT;
  operation.step = step;
  operation.tid = kTid;
  operation.time_ns = time_ns;
  operation.duration_ns = 300;
  operation.result = result;
  operation.offset_and_rest = offset | rest << MLRUN_SHORT_OFFSET_BITS;
  return operation;
}

template <typename Record>
std::optional<mlrun_file_op> given(WholeRecords& records, const Record& record) {
  const std::string_view whole = records.next(&record, sizeof record);
  if (whole.size() != sizeof(mlrun_file_op)) return std::nullopt;
  mlrun_file_op operation{};
  __builtin_memcpy(&operation, whole.data(), sizeof operation);
  return operation;
}

TEST(WholeRecords, AShortRecordHasTheValuesOfTheLastWholeOne) {
  WholeRecords records;
  (void)given(records, whole_one(7, kOneSecond));
  const auto read = given(records, short_read(2, kOneSecond + 1000, 8192, 4000, 96));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.kind, MLRUN_KERNEL_FILE_OP);
  EXPECT_EQ(read->head.bytes, sizeof(mlrun_file_op));
  EXPECT_EQ(read->head.cpu, 3U);
  EXPECT_EQ(read->head.pid, kPid);
  EXPECT_EQ(read->head.tid, kTid);
  EXPECT_EQ(read->head.time_ns, kOneSecond + 1000);
  EXPECT_EQ(read->begin_ns, kOneSecond + 700);
  EXPECT_EQ(read->operation, number(9));
  EXPECT_EQ(read->outer, 0U);
  EXPECT_EQ(read->depth, 0U);
  EXPECT_EQ(read->inode, 1234U);
  EXPECT_EQ(read->device, 56U);
  EXPECT_EQ(read->op, MLRUN_FILE_READ);
  EXPECT_EQ(read->flags, MLRUN_FILE_DIRECT);
  EXPECT_EQ(read->offset, 8192U);
  EXPECT_EQ(read->result, 4000);
  EXPECT_EQ(read->requested, 4096U);
}

TEST(WholeRecords, AFailedOneHasTheRequestedBytesAndAnUnknownOffsetStaysUnknown) {
  WholeRecords records;
  (void)given(records, whole_one(1, kOneSecond));
  const auto read = given(records, short_read(1, kOneSecond + 1000, MLRUN_SHORT_NO_OFFSET, -5, 4101));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->offset, UINT64_MAX);
  EXPECT_EQ(read->result, -5);
  EXPECT_EQ(read->requested, 4096U);
}

TEST(WholeRecords, StepsAddUpAndOperationsInsideOthersAreNotSteps) {
  WholeRecords records;
  (void)given(records, whole_one(1, kOneSecond));
  EXPECT_EQ(given(records, short_read(255, kOneSecond + 1, 0, 0, 0))->operation, number(256));
  mlrun_file_op inner = whole_one(258, kOneSecond + 2);
  inner.depth = 1;
  inner.outer = number(257);
  EXPECT_EQ(given(records, inner)->outer, number(257));
  const auto next = given(records, short_read(1, kOneSecond + 3, 0, 0, 0));
  EXPECT_EQ(next->operation, number(257));
  EXPECT_EQ(next->outer, 0U);
}

TEST(WholeRecords, AShortOneMadeNoPagesDirty) {
  WholeRecords records;
  mlrun_file_op write = whole_one(1, kOneSecond);
  write.dirty_pages = 16;
  EXPECT_EQ(given(records, write)->dirty_pages, 16U);
  EXPECT_EQ(given(records, short_read(1, kOneSecond + 1, 0, 0, 0))->dirty_pages, 0U);
  write.dirty_pages = MLRUN_DIRTY_PAGES_UNKNOWN;
  (void)given(records, write);
  EXPECT_EQ(given(records, short_read(1, kOneSecond + 2, 0, 0, 0))->dirty_pages, MLRUN_DIRTY_PAGES_UNKNOWN);
}

TEST(WholeRecords, OneOfAThreadWithoutAWholeRecordIsCounted) {
  WholeRecords records;
  (void)given(records, whole_one(1, kOneSecond, kTid + 1));
  const mlrun_short_file_op read = short_read(1, kOneSecond + 1, 0, 0, 0);
  EXPECT_TRUE(records.next(&read, sizeof read).empty());
  EXPECT_EQ(records.unknown(), 1U);
}

TEST(WholeRecords, OtherRecordsAreUnchanged) {
  WholeRecords records;
  mlrun_wait wait{};
  wait.head = {MLRUN_KERNEL_WAIT, sizeof wait, 0, kOneSecond, kPid, kTid};
  const std::string_view passed = records.next(&wait, sizeof wait);
  EXPECT_EQ(passed.data(), reinterpret_cast<const char*>(&wait));
  EXPECT_EQ(passed.size(), sizeof wait);
}

TEST(WholeRecords, EndedThreadsTakeNoMemory) {
  WholeRecords records;
  constexpr uint32_t kThreads = 100000, kAtOnce = 1000;
  for (uint32_t i = 0; i < kThreads; i++)
    (void)given(records, whole_one(1, kOneSecond + i * (kOneSecond / kAtOnce), kTid + i));
  // Those of eleven seconds, and twice as many until it looks again.
  EXPECT_LT(records.threads(), 25U * kAtOnce);
  const uint64_t last_ns = kOneSecond + (kThreads - 1) * (kOneSecond / kAtOnce);
  mlrun_short_file_op read = short_read(1, last_ns + kOneSecond - 1, 0, 0, 0);
  read.tid = kTid + kThreads - 1;
  EXPECT_TRUE(given(records, read));
}

}  // namespace
}  // namespace mlrun::probes
