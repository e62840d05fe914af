// SPDX-License-Identifier: Apache-2.0
#include "runner/model/threads_by_tid.h"

#include <gtest/gtest.h>

namespace mlrun::model {
namespace {

constexpr int32_t kTid = 100;

TEST(ThreadsByTid, AnIdMeansTheThreadThatHadItAtTheMoment) {
  ThreadsByTid threads;
  threads.add(kTid, {.first_ns = 50, .last_ns = 90, .proc_id = 2, .thread_id = 2});
  threads.add(kTid, {.first_ns = 10, .last_ns = 30, .proc_id = 1, .thread_id = 1});
  EXPECT_EQ(threads.find(kTid, 20), 1);
  EXPECT_EQ(threads.find(kTid, 60), 2);
  EXPECT_EQ(threads.find(kTid, 40), 1) << "a thread acts after its last row";
  EXPECT_EQ(threads.find(kTid, 5), 1) << "a thread acts before its first row";
  EXPECT_EQ(threads.find(kTid + 1, 20), 0);
}

TEST(ThreadsByTid, AfterAnExecTheNewRowOfTheThreadCounts) {
  ThreadsByTid threads;
  threads.add(kTid, {.first_ns = 10, .last_ns = 50, .proc_id = 1, .thread_id = 1});
  threads.add(kTid, {.first_ns = 50, .last_ns = 90, .proc_id = 1, .thread_id = 2});
  EXPECT_EQ(threads.find(kTid, 49), 1);
  EXPECT_EQ(threads.find(kTid, 50), 2);
}

TEST(ThreadsByTid, EqualIdsOfTwoLivingProcessesMeanNeither) {
  ThreadsByTid threads;
  threads.add(kTid, {.first_ns = 10, .last_ns = 90, .proc_id = 1, .thread_id = 1});
  threads.add(kTid, {.first_ns = 20, .last_ns = 40, .proc_id = 2, .thread_id = 2});
  EXPECT_EQ(threads.find(kTid, 15), 1);
  EXPECT_EQ(threads.find(kTid, 30), 0);
  EXPECT_EQ(threads.find(kTid, 60), 1);
}

}  // namespace
}  // namespace mlrun::model
