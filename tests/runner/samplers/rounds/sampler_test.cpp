// SPDX-License-Identifier: Apache-2.0
// The sampler's thread, on this test's own process.
#include "runner/samplers/rounds/sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "runner/util/clock.h"

namespace mlrun::rounds {
namespace {

using Rows = std::vector<mlrun_thread_sample>;

collect::WatchedProcess self() {
  const auto pid = static_cast<uint32_t>(::getpid());
  return {7, 0, pid, pid};
}

Rows rows_of(const Rows& rows, uint32_t tid) {
  Rows found;
  for (const mlrun_thread_sample& row : rows) {
    if (row.tid == tid) found.push_back(row);
  }
  return found;
}

// Rows of a thread follow each other without a gap and add up to what it used.
TEST(Sampler, AThreadThatOnlyComputesIsSeenAndItsRowsAddUp) {
  std::atomic<bool> stop = false;
  std::atomic<uint32_t> tid = 0;
  std::atomic<uint64_t> used_ns = 0;
  std::thread thread([&] {
    tid = static_cast<uint32_t>(::syscall(SYS_gettid));
    while (util::clock_ns(CLOCK_THREAD_CPUTIME_ID) < 300'000'000) {
    }
    used_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  Sampler sampler({.python_hz = 0, .python_by_name = false, .threads = true, .machine = true});
  sampler.watch({self()});
  while (used_ns == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  sampler.stop();
  stop = true;
  thread.join();
  const Sampler::News news = sampler.fetch();
  const Rows rows = rows_of(news.threads, tid);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().is_first, 1u);
  int64_t run_ns = 0, ticks_ns = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].process, 7u);
    run_ns += rows[i].run_ns;
    ticks_ns += rows[i].utime_ns + rows[i].stime_ns;
    if (i == 0) continue;
    EXPECT_EQ(rows[i].is_first, 0u);
    EXPECT_EQ(rows[i].monotonic_ns - rows[i].interval_ns, rows[i - 1].monotonic_ns);
  }
  EXPECT_GE(run_ns, static_cast<int64_t>(used_ns) - 1'000'000);
  EXPECT_LE(run_ns, static_cast<int64_t>(used_ns) + 50'000'000) << "it only sleeps then";
  EXPECT_NEAR(static_cast<double>(ticks_ns), static_cast<double>(run_ns), 60e6);
  EXPECT_FALSE(news.machine.empty());
  const SamplerState state = sampler.state();
  EXPECT_EQ(state.thread_rows, news.threads.size());
  EXPECT_EQ(state.problem, "");
}

TEST(Sampler, ASleepingThreadHasFewRows) {
  Sampler sampler({.python_hz = 0, .python_by_name = false, .threads = true, .machine = false});
  std::atomic<bool> stop = false;
  std::atomic<uint32_t> tid = 0;
  std::thread thread([&] {
    tid = static_cast<uint32_t>(::syscall(SYS_gettid));
    stop.wait(false);
  });
  sampler.watch({self()});
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  sampler.stop();
  stop = true;
  stop.notify_all();
  thread.join();
  const Rows rows = rows_of(sampler.fetch().threads, tid);
  ASSERT_GE(rows.size(), 2u);
  EXPECT_LE(rows.size(), 3u) << "until it slept, perhaps in two, and since then";
  EXPECT_EQ(rows.back().state, static_cast<uint32_t>('S'));
  EXPECT_EQ(rows.back().run_ns, 0);
  EXPECT_GE(rows.back().interval_ns, 1'500'000'000u);
}

}  // namespace
}  // namespace mlrun::rounds
