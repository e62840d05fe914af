// SPDX-License-Identifier: Apache-2.0
// Threads that record while the collector drains, all in this process, where ThreadSanitizer sees both sides.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

constexpr uint32_t kLiveThreads = 3;
constexpr uint64_t kRecords = 100'000;  // of each thread: together more than twice what the arena holds

// Waits for room as a lossless thread does.
void record_all(RecordingThread& thread) {
  for (uint64_t i = 0; i < kRecords; i++) {
    while (!thread.record(i)) std::this_thread::yield();
  }
  thread.die();
}

TEST(Live, RecordsOfThreadsAtWorkArriveInOrderAndOnce) {
  Session session;
  std::vector<RecordingThread> recording;  // made here, where one that cannot be made fails the test
  recording.reserve(kLiveThreads);
  for (uint32_t number = 1; number <= kLiveThreads; number++) {
    recording.emplace_back(session.arena(), RecordingThread::Who{number, number, number});
  }
  std::atomic<uint32_t> at_work{kLiveThreads};
  std::vector<std::thread> threads;
  threads.reserve(kLiveThreads);
  for (RecordingThread& thread : recording) {
    threads.emplace_back([&] {
      record_all(thread);
      at_work--;
    });
  }
  while (at_work != 0) session.collector().pass();
  for (std::thread& thread : threads) thread.join();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(session.collector().drained().records, kLiveThreads * kRecords);
  for (const RecordingThread& thread : recording) {
    EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, kRecords));
  }
}

}  // namespace
}  // namespace mlrun::collect::testing
