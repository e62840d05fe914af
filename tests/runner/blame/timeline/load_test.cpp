// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/load.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "runner/parquet/row_columns.h"

namespace mlrun::blame {
namespace {

constexpr int32_t kTid = 100, kWakerTid = 101;

struct ThreadColumns {
  static constexpr const char* kTable = "thread";
  static void visit(auto& visitor, const Thread& row) {
    visitor("thread_id", row.thread_id);
    visitor("proc_id", row.proc_id);
    visitor("tid", row.tid);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
    visitor("comm", row.comm);
  }
};

struct WaitRow {
  int64_t ts_ns = 0, dur_ns = 0;
  int32_t thread_id = 0;
};
struct WaitColumns {
  static constexpr const char* kTable = "wait";
  static void visit(auto& visitor, const WaitRow& row) {
    visitor("ts", row.ts_ns, tables::kDelta);
    visitor("dur", row.dur_ns);
    visitor.optional("thread_id", row.thread_id, 0);
    visitor("tid", kTid);
    visitor("runq_ns", int64_t{1});
    visitor("waker_tid", kWakerTid);
    visitor("in_iowait", false);
    visitor("state", std::string("interruptible"));
  }
};

// Two threads with one id, one after the other or in pid namespaces of their own, and a sleep of a thread without a row.
TEST(Load, ASleepBelongsToTheThreadOfItsRowWhereIdsAreEqual) {
  const std::filesystem::path folder = ::testing::TempDir() + "blame_load_" + std::to_string(::getpid());
  tables::RowTable<ThreadColumns, Thread> threads;
  ASSERT_TRUE(threads.open_in(folder / "tables"));
  for (const int32_t number : {1, 2}) {
    Thread thread;
    thread.thread_id = thread.proc_id = number;
    thread.tid = kTid;
    thread.last_ns = 1000;
    threads.add(thread);
  }
  ASSERT_TRUE(threads.close());
  tables::RowTable<WaitColumns, WaitRow> waits;
  ASSERT_TRUE(waits.open_in(folder / "tables"));
  waits.add({.ts_ns = 100, .dur_ns = 10, .thread_id = 1});
  waits.add({.ts_ns = 200, .dur_ns = 20, .thread_id = 2});
  waits.add({.ts_ns = 300, .dur_ns = 30, .thread_id = 0});
  ASSERT_TRUE(waits.close());
  const auto timeline = load(folder, 0, 0);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(timeline) << timeline.error().text;
  ASSERT_EQ(timeline->thread(1).sleeps.size(), 1U);
  ASSERT_EQ(timeline->thread(2).sleeps.size(), 1U);
  EXPECT_EQ(timeline->thread(1).sleeps[0].start_ns, 100);
  EXPECT_EQ(timeline->thread(2).sleeps[0].start_ns, 200);
  EXPECT_EQ(timeline->thread(2).sleeps[0].waker_tid, kWakerTid);
}

}  // namespace
}  // namespace mlrun::blame
