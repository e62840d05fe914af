// SPDX-License-Identifier: Apache-2.0
// Tests that a collector killed at any moment loses and duplicates nothing.
#include "runner/collect/recovery.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include <gtest/gtest.h>

#include "runner/collect/arena_place.h"
#include "runner/collect/pace.h"
#include "runner/collect/shared_word.h"
#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

// Three threads of a process that waits for room rather than lose a record, and ends by itself some time after mlrun.
constexpr uint32_t kThreads = 3;

struct Progress {
  uint64_t written[kThreads];
  uint32_t stop;
};

void record_until_stopped(const std::string& arena_path, Progress& progress) {
  auto arena = Arena::open(arena_path);
  std::vector<std::unique_ptr<RecordingThread>> threads;
  for (uint32_t i = 0; i < kThreads; i++) {
    threads.push_back(std::make_unique<RecordingThread>(*arena, RecordingThread::Who{i + 1, i + 1, i + 1}));
  }
  while (load(progress.stop) == 0) {
    for (uint32_t i = 0; i < kThreads; i++) {
      if (load(arena->control().state) == MLRUN_RUN && threads[i]->record(progress.written[i])) {
        store(progress.written[i], progress.written[i] + 1);
      }
    }
  }
}

// The collector's process: as `mlrun run` does it.
[[noreturn]] void collect_for_ever(const RecordingOptions& options, int report) {
  auto recording = Recording::create(options);
  if (!recording) ::_exit(1);
  (*recording)->collector().start();
  const std::string path = (*recording)->place().path;
  if (::write(report, path.data(), path.size()) < 0) ::_exit(1);
  ::close(report);
  Pace pace((*recording)->arena().control());
  for (;;) {
    pace.begin_pass();
    pace.sleep((*recording)->collector().pass(), (*recording)->collector().pool(), true);
  }
}

struct Killed {
  Folder folder;
  RecoveryOptions options;
  Progress* progress =
      static_cast<Progress*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t producer = 0;
};

// On a busy machine the producer may have no turn for longer than the collector lives.
void wait_for_records(const Killed& killed, uint64_t wanted) {
  for (uint64_t written = 0; written < wanted;) {
    ASSERT_EQ(::waitpid(killed.producer, nullptr, WNOHANG), 0) << "the producer has ended";
    ::usleep(100);
    written = 0;
    for (const uint64_t& of_thread : killed.progress->written) written += load(of_thread);
  }
}

// Starts both, kills the collector `microseconds` after it had something to do.
void kill_collector_after(Killed& killed, unsigned microseconds) {
  RecordingOptions options;
  options.trace_folder = killed.folder.path;
  options.buffer_bytes = kSmallBuffer;
  options.buffer_exact = true;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t collector = ::fork();
  if (collector == 0) collect_for_ever(options, ends[1]);
  ::close(ends[1]);
  char path[256] = {};
  ASSERT_GT(::read(ends[0], path, sizeof path - 1), 0);
  ::close(ends[0]);
  killed.producer = ::fork();
  if (killed.producer == 0) {
    record_until_stopped(path, *killed.progress);
    ::_exit(0);
  }
  wait_for_records(killed, 1001);
  ::usleep(microseconds);
  ::kill(collector, SIGKILL);
  ::waitpid(collector, nullptr, 0);
  ::usleep(2000);
  killed.options.trace_folder = killed.folder.path;
  killed.options.arena_path = path;
  killed.options.session = session_text(Arena::open(path)->session());
}

void stop_producer(Killed& killed) {
  store(killed.progress->stop, 1u);
  ::waitpid(killed.producer, nullptr, 0);
}

void expect_everything_once(const Killed& killed) {
  const SpoolFrames spool = read_spool(spool_path(killed.folder.path));
  ASSERT_EQ(spool.error, "");  // and no twins
  const auto numbers = spool.numbers();
  uint64_t total = 0;
  for (const auto& [serial, found] : numbers) {
    EXPECT_EQ(found, count_up(0, killed.progress->written[serial - 1])) << "channel " << serial;
    total += found.size();
  }
  EXPECT_GT(total, 1000u);
  EXPECT_EQ(spool.gaps(MLRUN_GAP_COLLECTOR).size(), 1u);
  EXPECT_TRUE(spool.gaps(MLRUN_GAP_TORN).empty());
  EXPECT_FALSE(std::filesystem::exists(killed.options.arena_path));
}

class KilledAt : public ::testing::TestWithParam<int> {};

TEST_P(KilledAt, ARandomTimeEverythingIsRecoveredOnce) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  Killed killed;
  kill_collector_after(killed, 3000 + random() % 60000);
  stop_producer(killed);
  auto recovery = Recovery::open(killed.options);
  ASSERT_TRUE(recovery);
  ASSERT_TRUE((*recovery)->complete());
  expect_everything_once(killed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, KilledAt, ::testing::Range(0, 30));

TEST(Recovery, StopsAWorkloadThatStillRecords) {
  Killed killed;
  kill_collector_after(killed, 20000);
  auto recovery = Recovery::open(killed.options);
  ASSERT_TRUE(recovery);
  ASSERT_TRUE((*recovery)->complete());
  stop_producer(killed);
  expect_everything_once(killed);
  EXPECT_EQ(read_spool(spool_path(killed.folder.path)).gaps(MLRUN_GAP_CUT_OFF).size(), kThreads);
}

TEST(Recovery, WithoutAnArenaEndsTheSpoolBehindItsLastWholeFrame) {
  Killed killed;
  kill_collector_after(killed, 1'200'000);  // the spool is written once a second at least
  stop_producer(killed);
  ::unlink(killed.options.arena_path.c_str());
  const auto size_before = std::filesystem::file_size(spool_path(killed.folder.path));
  ASSERT_GT(size_before, 0u);
  killed.options.same_boot = false;
  auto recovery = Recovery::open(killed.options);
  ASSERT_TRUE(recovery);
  ASSERT_TRUE((*recovery)->complete());
  const SpoolFrames spool = read_spool(spool_path(killed.folder.path));
  ASSERT_EQ(spool.error, "");
  ASSERT_EQ(spool.gaps(MLRUN_GAP_COLLECTOR).size(), 1u);
  for (const auto& [serial, found] : spool.numbers()) EXPECT_EQ(found, count_up(0, found.size())) << serial;
  EXPECT_GT(spool.numbers().size(), 0u);
}

TEST(Recovery, LeavesAnArenaOfAnotherSessionAlone) {
  Killed killed;
  kill_collector_after(killed, 20000);
  stop_producer(killed);
  killed.options.session = "00";
  auto recovery = Recovery::open(killed.options);
  ASSERT_TRUE(recovery);
  EXPECT_EQ((*recovery)->collector(), nullptr);
  ASSERT_TRUE((*recovery)->complete());
  EXPECT_TRUE(std::filesystem::exists(killed.options.arena_path));
  ::unlink(killed.options.arena_path.c_str());
}

// A recovery that is itself killed is like a collector that is.
TEST(Recovery, MayBeKilledAndRepeated) {
  std::mt19937 random(1);
  for (int round = 0; round < 5; round++) {
    Killed killed;
    kill_collector_after(killed, 20000);
    stop_producer(killed);
    const pid_t first = ::fork();
    if (first == 0) {
      auto recovery = Recovery::open(killed.options);
      if (recovery) (void)(*recovery)->complete();
      ::_exit(0);
    }
    ::usleep(random() % 4000);
    ::kill(first, SIGKILL);
    ::waitpid(first, nullptr, 0);
    if (!std::filesystem::exists(killed.options.arena_path)) continue;  // it was done already
    auto recovery = Recovery::open(killed.options);
    ASSERT_TRUE(recovery) << recovery.error().text;
    ASSERT_TRUE((*recovery)->complete());
    const SpoolFrames spool = read_spool(spool_path(killed.folder.path));
    ASSERT_EQ(spool.error, "");
    for (const auto& [serial, found] : spool.numbers()) {
      EXPECT_EQ(found, count_up(0, killed.progress->written[serial - 1])) << "channel " << serial;
    }
  }
}

}  // namespace
}  // namespace mlrun::collect::testing
