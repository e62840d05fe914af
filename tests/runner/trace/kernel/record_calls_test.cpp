// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/record_calls.h"

#include <gtest/gtest.h>

#include "tests/runner/trace/joined_rows.h"

namespace mlrun::trace {
namespace {

mlrun_bio_fragment queued(uint32_t tid, uint64_t ns, uint32_t flags = 0) {
  mlrun_bio_fragment fragment{};
  fragment.head.tid = tid;
  fragment.queued_at_ns = ns;
  fragment.flags = flags;
  return fragment;
}

TEST(RecordCalls, AFragmentBelongsToTheCallOfItsThreadThatQueuedIt) {
  RecordCalls calls;
  calls.add(queued(7, 150));
  calls.add(queued(7, 100));
  calls.add(queued(8, 150));
  calls.add(queued(7, 201));
  calls.add(queued(7, 150, MLRUN_BLOCK_WRITEBACK));
  calls.sort();
  calls.call(call(7, 100, 100), 1);
  calls.call(call(8, 0, 149), 2);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 1);
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0) << "behind the call";
  EXPECT_EQ(calls.call_of(4), 0) << "written back later";
  EXPECT_EQ(calls.call_of(99), 0);
}

TEST(RecordCalls, AFileOperationBelongsToTheCallThatContainsItsMiddle) {
  const auto file_op = [](uint32_t tid, uint64_t begin_ns, uint64_t end_ns) {
    mlrun_file_op operation{};
    operation.head.tid = tid;
    operation.head.time_ns = end_ns;
    operation.begin_ns = begin_ns;
    return operation;
  };
  RecordCalls calls;
  calls.add(file_op(7, 98, 198));  // the clocks are not quite the same
  calls.add(file_op(7, 300, 340));
  calls.add(file_op(8, 100, 200));
  calls.add(file_op(7, 500, 10));  // damaged: it ends before it begins
  calls.sort();
  calls.call(call(7, 100, 100), 1);
  calls.call(call(7, 320, 100), 2);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 2);
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0);
}

TEST(RecordCalls, ARemoteRequestBelongsToTheCallThatBeganIt) {
  const auto remote = [](uint32_t tid, uint64_t begin_ns, uint64_t end_ns) {
    mlrun_remote request{};
    request.head.tid = tid;
    request.head.time_ns = end_ns;
    request.begin_ns = begin_ns;
    return request;
  };
  RecordCalls calls;
  calls.add(remote(7, 99'900, 900'000));  // the clocks are not quite the same, and it outlives the call
  calls.add(remote(7, 149'900, 150'000));
  calls.add(remote(8, 120'000, 130'000));
  calls.add(remote(7, 500'000, 10));  // damaged: it ends before it begins
  calls.sort();
  calls.call(call(7, 100'000, 50'000), 1);
  EXPECT_EQ(calls.call_of(0), 1);
  EXPECT_EQ(calls.call_of(1), 1) << "shorter than what is added";
  EXPECT_EQ(calls.call_of(2), 0) << "another thread";
  EXPECT_EQ(calls.call_of(3), 0);
}

TEST(RecordCalls, FragmentsInsideACallWithoutARowAreNotOutside) {
  RecordCalls calls;
  calls.add(queued(7, 150));
  calls.add(queued(7, 250));
  calls.sort();
  calls.call(call(7, 100, 100), RecordCalls::kUnlisted);
  EXPECT_EQ(calls.call_of(0), 0);
  EXPECT_FALSE(calls.is_outside(0));
  EXPECT_TRUE(calls.is_outside(1));
  EXPECT_FALSE(calls.is_outside(2)) << "beyond those that are joined";
}

}  // namespace
}  // namespace mlrun::trace
