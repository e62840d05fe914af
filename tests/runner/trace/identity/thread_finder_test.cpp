// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/thread_finder.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(ThreadFinder, ANumberThatIsUsedAgainMeansAnotherThread) {
  model::TraceInfo info;
  info.threads.push_back({2, 20, 21, 500, 2000, 2500, "later"});
  info.threads.push_back({1, 10, 11, 500, 1000, 1500, "first"});
  model::ProcessRow process;
  process.proc_id = 30;
  process.pid = 600;
  info.processes.push_back(process);
  const ThreadFinder finder(info);
  EXPECT_EQ(finder.find(1999, 500, 500).thread_id, 1);
  EXPECT_EQ(finder.find(2000, 500, 500).thread_id, 2);
  EXPECT_EQ(finder.find(5, 500, 500).proc_id, 10) << "before its first record: I/O of its start";
  EXPECT_EQ(finder.find(5, 600, 601).proc_id, 30);
  EXPECT_EQ(finder.find(5, 600, 601).thread_id, 0);
  EXPECT_EQ(finder.find(5, 1, 1).proc_id, 0);
}

TEST(ThreadFinder, AProcessIdThatIsAThreadOfAnotherProcessLaterMeansNotThat) {
  model::TraceInfo info;
  const auto add = [&](int32_t proc_id, int32_t pid, int32_t tid, int64_t first_ns) {
    model::ProcessRow process;
    process.proc_id = proc_id;
    process.pid = pid;
    process.first_ns = first_ns;
    if (pid == tid) info.processes.push_back(process);
    const auto thread_id = static_cast<int32_t>(info.threads.size()) + 1;
    info.threads.push_back({thread_id, proc_id, proc_id, tid, first_ns, first_ns + 100, "thread"});
  };
  add(1, 500, 500, 1000);
  add(2, 600, 600, 2000);
  add(2, 600, 500, 3000);  // a thread of the second process has the number of the first
  add(3, 500, 500, 4000);
  const ThreadFinder finder(info);
  EXPECT_EQ(finder.find(3500, 500, 500).proc_id, 1);
  EXPECT_EQ(finder.find(3500, 600, 500).thread_id, 3);
  EXPECT_EQ(finder.find(9000, 600, 500).thread_id, 3);
  EXPECT_EQ(finder.find(9000, 500, 500).proc_id, 3);
  EXPECT_EQ(finder.find(9000, 600, 700).proc_id, 2) << "no such thread";
  EXPECT_EQ(finder.find(9000, 600, 700).thread_id, 0);
}

}  // namespace
}  // namespace mlrun::trace
