// SPDX-License-Identifier: Apache-2.0
// Every traced process can write anything into the arena, at any time. The collector must terminate, stay within its
// bounds and leave a valid spool.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include <gtest/gtest.h>

#include "runner/collect/shared_word.h"
#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

// Scribbles on what producers may write: everything but the collector's own words is fair.
class Vandal {
 public:
  Vandal(const Arena& arena, uint64_t seed) : arena_(arena), random_(seed) {}

  void owner_word() {
    const uint32_t count = arena_.layout().segment_count;
    const uint32_t index = number(count);
    switch (number(6)) {
      case 0: return store(arena_.owner(index), number(UINT32_MAX));
      case 1: return store(arena_.owner(index), lap() << 24 | MLRUN_OWNER_DESCRIPTORS);
      case 2: return store(arena_.owner(index), lap() << 24 | (number(count) * 16 + number(16) + 1));
      case 3: return store(arena_.owner(index), lap() << 24 | MLRUN_OWNER_PREPARING);
      case 4: return store(arena_.owner(index), lap() << 24);
      default: return store(arena_.control().segment_high, number(2) == 0 ? count : number(UINT32_MAX));
    }
  }

  // Random bytes, or records and descriptors that nearly make sense.
  void content() {
    const uint32_t index = number(arena_.layout().segment_count);
    auto* words = reinterpret_cast<uint64_t*>(arena_.segment(index));
    const uint32_t at = number(MLRUN_SEGMENT_BYTES / 8);
    switch (number(4)) {
      case 0:
        for (uint32_t i = at; i < MLRUN_SEGMENT_BYTES / 8; i++) words[i] = random_();
        return;
      case 1:
        for (uint32_t i = at & ~1u; i < MLRUN_SEGMENT_BYTES / 8; i += 2) {
          words[i] = mlrun_word0(lap(), number(6), number(512), number(99));
        }
        return;
      case 2: {
        mlrun_channel& channel = arena_.descriptor(index, 1 + number(15));
        channel.state = number(4);
        channel.lock = number(3) == 0 ? FUTEX_OWNER_DIED : number(1000);
        channel.serial = number(5);
        channel.pid = number(3000);
        channel.next_seq = random_();
        channel.fine[number(64)].allocs = random_();
        return;
      }
      default: {
        mlrun_segment& header = arena_.segment_header(index);
        header.clock = random_();
        header.channel = number(UINT32_MAX);
        header.lap = lap();
        return;
      }
    }
  }

  void control_page() {
    mlrun_control& control = arena_.control();
    switch (number(8)) {
      case 0: control.segment_count = number(UINT32_MAX); return;
      case 1: control.segments_offset = random_(); return;
      case 2: control.owner_offset = random_(); return;
      case 3: control.available_segments = number(UINT32_MAX); return;
      case 4: control.free_segments_hint = number(UINT32_MAX); return;
      case 5: control.stage_head = random_(); return;
      case 6: control.clock_kind = number(UINT32_MAX); return;
      default: control.collector_lock[number(10)] = number(UINT32_MAX); return;
    }
  }

 private:
  uint32_t number(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint32_t lap() { return number(4) + (number(8) == 0 ? 252 : 0); }

  const Arena& arena_;
  std::mt19937_64 random_;
};

// A vandal at work in a process of its own, as in a recording; one that has begun.
class Scribbler {
 public:
  Scribbler(const Arena& arena, uint64_t seed) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) scribble(Vandal(arena, seed), ends[1]);
    ::close(ends[1]);
    char byte = 0;
    at_work_ = ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
  }
  ~Scribbler() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Scribbler(const Scribbler&) = delete;
  Scribbler& operator=(const Scribbler&) = delete;
  [[nodiscard]] bool at_work() const { return at_work_; }

 private:
  [[noreturn]] static void scribble(Vandal vandal, int begun) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (bool reported = false;; reported = reported || ::write(begun, "", 1) == 1) {
      vandal.owner_word();
      vandal.content();
    }
  }

  pid_t pid_ = -1;
  bool at_work_ = false;
};

class Hostile : public ::testing::TestWithParam<int> {};

TEST_P(Hostile, RandomBytesInTheArenaLeaveAValidSpool) {
  Session session;
  session.recording->arena().control().segment_high = session.arena().layout().segment_count;
  Vandal vandal(session.arena(), static_cast<uint64_t>(GetParam()));
  for (int round = 0; round < 300; round++) {
    for (int i = 0; i < 8; i++) vandal.owner_word();
    for (int i = 0; i < 4; i++) vandal.content();
    if (round % 10 == 0) vandal.control_page();
    session.collector().pass();
  }
  ASSERT_TRUE(session.recording->finish());
  const SpoolFrames spool = read_spool(spool_path(session.folder.path), true);
  EXPECT_EQ(spool.error, "");
  EXPECT_FALSE(spool.frames.empty());
}

TEST_P(Hostile, RandomWritesDuringReadsLeaveAValidSpool) {
  Session session;
  session.recording->arena().control().segment_high = session.arena().layout().segment_count;
  {
    const Scribbler scribbler(session.arena(), 1000 + static_cast<uint64_t>(GetParam()));
    ASSERT_TRUE(scribbler.at_work());
    for (int round = 0; round < 2000; round++) session.collector().pass();
  }
  ASSERT_TRUE(session.recording->finish());
  EXPECT_EQ(read_spool(spool_path(session.folder.path), true).error, "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Hostile, ::testing::Range(0, 12));

TEST(Hostile, ASegmentWithoutAnOwnerIsAbandonedAtTheEnd) {
  Session session;
  store(session.arena().owner(3), 1u << 24 | 77u);
  store(session.arena().control().segment_high, 4u);
  session.collector().pass();
  EXPECT_EQ(session.finish().error, "");
  EXPECT_EQ(session.collector().drained().corrupt_segments, 1u);
}

TEST(Hostile, AnImpossibleRecordGivesUpTheRestOfItsSegmentOnly) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  uint64_t* words = thread.reserve(32);
  store(words[0], uint64_t{mlrun_word0(1, 0, MLRUN_MALLOC, 0)});
  thread.record(1);
  session.collector().pass();
  ASSERT_TRUE(thread.change_segment());
  thread.record(2);
  const uint64_t serial = thread.serial();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(serial), (std::vector<uint64_t>{0, 2}));
  ASSERT_EQ(spool.gaps(MLRUN_GAP_CORRUPT).size(), 1u);
  EXPECT_EQ(spool.gaps(MLRUN_GAP_CORRUPT)[0].count, uint64_t{MLRUN_SEGMENT_BYTES - MLRUN_SEGMENT_HEADER_BYTES - 32});
}

}  // namespace
}  // namespace mlrun::collect::testing
