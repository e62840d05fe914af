// SPDX-License-Identifier: Apache-2.0
// The threads of this test's own process.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "runner/samplers/proc/task_table.h"
#include "runner/util/clock.h"
#include "tests/runner/samplers/no_descriptors.h"

namespace mlrun::proc {
namespace {

uint32_t own_pid() { return static_cast<uint32_t>(::getpid()); }

// A thread that runs the functions it is given.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {
    while (tid == 0) std::this_thread::yield();
  }
  ~Worker() {
    compute(0, true);
    thread_.join();
  }
  // Returns when it sleeps again.
  void compute(uint64_t cpu_ns, bool ends = false) {
    std::unique_lock lock(mutex_);
    wanted_ns_ = cpu_ns;
    ends_ = ends;
    is_told_ = true;
    changed_.notify_all();
    if (!ends) changed_.wait(lock, [&] { return !is_told_; });
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::atomic<uint32_t> tid = 0;

 private:
  void work() {
    std::unique_lock lock(mutex_);
    tid = static_cast<uint32_t>(::syscall(SYS_gettid));
    for (;;) {
      changed_.wait(lock, [&] { return is_told_; });
      const uint64_t begin_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      while (util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < wanted_ns_) {
      }
      is_told_ = false;
      if (ends_) return;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wanted_ns_ = 0;
  bool is_told_ = false, ends_ = false;
  std::thread thread_;
};

TEST(Task, ThatCannotBeOpenedForLackOfDescriptorsHasNotEnded) {
  Worker worker;
  Task task({1, worker.tid, own_pid(), worker.tid}, false);
  std::vector<mlrun_thread_sample> rows;
  ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
  worker.compute(20'000'000);
  {
    const NoDescriptors none;
    ASSERT_LT(::open("/dev/null", O_RDONLY), 0);
    EXPECT_TRUE(task.sample(util::monotonic_ns(), rows));
    EXPECT_EQ(rows.size(), 1u);
  }
  ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_GE(rows[1].run_ns, 20'000'000);
  EXPECT_EQ(rows[1].monotonic_ns - rows[1].interval_ns, rows[0].monotonic_ns);
}

TEST(TaskTable, KeepsItsThreadsWhenTheyCannotBeListedForLackOfDescriptors) {
  Worker worker;
  TaskTable table;
  table.set({{1, own_pid(), own_pid()}});
  const auto always = [] { return true; };
  const uint64_t begin_ns = util::monotonic_ns();
  table.work(begin_ns, always);
  const size_t threads = table.take().size();
  ASSERT_GE(threads, 2u);
  {
    const NoDescriptors none;
    table.work(begin_ns + 20'000'000'000, always);
  }
  table.work(begin_ns + 40'000'000'000, always);
  for (const mlrun_thread_sample& row : table.take()) EXPECT_EQ(row.is_first, 0u) << "thread " << row.tid;
}

TEST(Task, ThatSleepsOnIsSeenToHaveNotRun) {
  for (const bool keeps_open : {true, false}) {
    Worker worker;
    worker.compute(1'000'000);
    Task task({1, worker.tid, own_pid(), worker.tid}, keeps_open);
    EXPECT_EQ(task.is_kept_open(), keeps_open);
    std::vector<mlrun_thread_sample> rows;
    ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
    const Task::Sight first = task.sight();
    EXPECT_TRUE(first.is_asleep());
    ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
    EXPECT_EQ(task.sight(), first);
    EXPECT_EQ(rows.size(), 1u);
    worker.compute(0);
    ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
    EXPECT_NE(task.sight(), first) << "it got a processor, however shortly";
    ASSERT_EQ(rows.size(), 3u) << "the sleep, and what came after it";
    EXPECT_EQ(rows[1].run_ns, 0);
    EXPECT_GT(rows[2].run_ns, 0);
  }
}

TEST(Task, RowsOfAThreadAreWhatItUsed) {
  Worker worker;
  Task task({1, worker.tid, own_pid(), worker.tid}, true);
  std::vector<mlrun_thread_sample> rows;
  ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
  for (const int64_t wanted_ns : {20'000'000, 80'000'000}) {
    worker.compute(static_cast<uint64_t>(wanted_ns));
    rows.clear();
    ASSERT_TRUE(task.sample(util::monotonic_ns(), rows));
    EXPECT_GE(rows.back().run_ns, wanted_ns);
    EXPECT_LE(rows.back().run_ns, wanted_ns + 10'000'000);
  }
}

TEST(Task, OfAThreadThatHasEndedIsGone) {
  auto worker = std::make_unique<Worker>();
  Task task({1, worker->tid, own_pid(), worker->tid}, true);
  std::vector<mlrun_thread_sample> rows;
  EXPECT_TRUE(task.sample(util::monotonic_ns(), rows));
  worker.reset();
  EXPECT_FALSE(task.sample(util::monotonic_ns(), rows));
}

TEST(TaskTable, ListsThreadsThatComeAndGo) {
  TaskTable table;
  table.set({{3, own_pid(), own_pid()}});
  const auto go_on = [] { return true; };
  uint64_t now_ns = util::monotonic_ns();
  table.work(now_ns, go_on);
  const size_t before = table.take().size();
  uint32_t tid = 0;
  {
    Worker worker;
    tid = worker.tid;
    table.work(now_ns += 6'000'000'000, go_on);
    const auto rows = table.take();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.tid == tid && row.is_first; }));
  }
  table.work(now_ns += 6'000'000'000, go_on);
  EXPECT_GE(before, 1u);
  EXPECT_EQ(table.find(own_pid() + 1, tid), nullptr) << "no such process";
}

TEST(TaskTable, WithoutABudgetDoesNothing) {
  TaskTable table;
  table.set({{3, own_pid(), own_pid()}});
  table.work(util::monotonic_ns(), [] { return false; });
  EXPECT_TRUE(table.take().empty());
}

}  // namespace
}  // namespace mlrun::proc
