// SPDX-License-Identifier: Apache-2.0
// Tests how a collector drains segments: frontier, holes, ends, laps.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "runner/collect/shared_word.h"
#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kPerSegment = (MLRUN_SEGMENT_BYTES - MLRUN_SEGMENT_HEADER_BYTES) / 32;

TEST(Drain, RecordsOfALivingThreadArriveInOrderAndOnce) {
  Session session;
  RecordingThread thread(session.arena());
  for (uint64_t i = 0; i < 1000; i++) {
    ASSERT_TRUE(thread.record(i));
    if (i % 100 == 0) session.collector().pass();
  }
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 1000));
  EXPECT_EQ(session.collector().drained().records, 1000u);
}

TEST(Drain, AFullSegmentIsGivenBackAndReusedInTheNextLap) {
  Session session;
  RecordingThread thread(session.arena());
  ASSERT_TRUE(thread.record(0));
  const uint32_t first = thread.segment();
  for (uint64_t i = 1; i < kPerSegment + 1; i++) ASSERT_TRUE(thread.record(i));
  ASSERT_NE(thread.segment(), first);
  EXPECT_EQ(load(session.arena().owner(first)) >> 24, 1u);
  session.collector().pass();
  EXPECT_EQ(load(session.arena().owner(first)), 2u << 24);
}

TEST(Drain, AThreadsSegmentsLeaveInTheOrderOfTheirHeaders) {
  Session session;
  RecordingThread thread(session.arena());
  // The thread's second segment comes before its first one in the arena.
  RecordingThread other(session.arena(), {2, 2, 2});
  ASSERT_TRUE(other.record(0));
  for (uint64_t i = 0; i < 10; i++) ASSERT_TRUE(thread.record(i));
  other.die();
  session.collector().pass();
  session.collector().pass();
  ASSERT_TRUE(thread.record(10));
  const uint32_t before = thread.segment();
  ASSERT_TRUE(thread.change_segment());
  ASSERT_LT(thread.segment(), before);
  for (uint64_t i = 11; i < 20; i++) ASSERT_TRUE(thread.record(i));
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 20));
}

TEST(Drain, AnUnfinishedRecordHoldsBackWhatFollowsInAnOpenSegment) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  uint64_t* unfinished = thread.reserve(32);
  thread.record(2);
  session.collector().pass();
  EXPECT_EQ(session.collector().drained().records, 1u);
  thread.finish(unfinished, 32, 1);
  session.collector().pass();
  EXPECT_EQ(session.collector().drained().records, 3u);
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 3));
  EXPECT_TRUE(spool.gaps(MLRUN_GAP_TORN).empty());
}

TEST(Drain, AHoleOfADeadThreadIsSkippedAndCounted) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  thread.reserve(64);
  thread.record(1);
  thread.reserve(32);  // where it died
  thread.die();
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 2));
  const auto torn = spool.gaps(MLRUN_GAP_TORN);
  ASSERT_EQ(torn.size(), 1u);
  EXPECT_EQ(torn[0].count, 64u);
}

TEST(Drain, AHoleInAClosedSegmentWaitsASecondThenTheSegmentIsParked) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  thread.reserve(32);
  thread.record(1);
  const uint32_t holed = thread.segment();
  ASSERT_TRUE(thread.change_segment());
  thread.record(2);
  session.collector().pass();
  EXPECT_EQ(session.collector().drained().records, 2u);  // 0 and 2
  std::this_thread::sleep_for(1100ms);
  session.collector().pass();
  EXPECT_EQ(session.collector().drained().records, 3u);
  // It was read to its end, but an outer frame of the living thread may still write there.
  EXPECT_EQ(session.collector().drained().parked, 1u);
  EXPECT_EQ(load(session.arena().owner(holed)) >> 24, 1u);
  thread.die();
  session.collector().pass();
  EXPECT_EQ(load(session.arena().owner(holed)), 2u << 24);
}

TEST(Drain, ASegmentBegunDuringThePassWaitsForTheNext) {
  Session session;
  RecordingThread thread(session.arena());
  ASSERT_TRUE(thread.record(0));
  ASSERT_TRUE(thread.change_segment());
  ASSERT_TRUE(thread.record(1));
  session.arena().segment_header(thread.segment()).clock = UINT64_MAX;  // later than any pass
  session.collector().pass();
  EXPECT_EQ(session.collector().drained().records, 1u);
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 2));
}

TEST(Drain, ASpareSegmentOfALivingThreadIsLeftAlone) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  const auto spare = thread.claim_spare();
  ASSERT_TRUE(spare);
  ASSERT_TRUE(thread.change_segment());  // a newer header: by the rule, the spare is closed
  thread.record(1);
  session.collector().pass();
  std::this_thread::sleep_for(1100ms);
  session.collector().pass();
  session.collector().pass();
  EXPECT_EQ(load(session.arena().owner(*spare)) >> 24, 1u);
  EXPECT_NE(load(session.arena().owner(*spare)) & MLRUN_OWNER_MASK, 0u);
  EXPECT_TRUE(session.finish().gaps(MLRUN_GAP_TORN).empty());
}

TEST(Drain, AtTheWrapOfTheLapTheSegmentIsZeroed) {
  Session session;
  store(session.arena().owner(1), 255u << 24);  // the descriptors take segment 0
  RecordingThread thread(session.arena());
  for (uint64_t i = 0; i < kPerSegment; i++) ASSERT_TRUE(thread.record(i));
  ASSERT_EQ(thread.segment(), 1u);
  thread.die();
  session.collector().pass();
  EXPECT_EQ(load(session.arena().owner(1)), 1u << 24);
  const char* memory = session.arena().segment(1);
  EXPECT_TRUE(std::all_of(memory, memory + MLRUN_SEGMENT_BYTES, [](char c) { return c == 0; }));
  EXPECT_EQ(session.finish().numbers().at(1), count_up(0, kPerSegment));
}

TEST(Drain, TwoWrapsOfTheLapLoseNothing) {
  Session session;
  RecordingThread thread(session.arena());
  const uint64_t count = kPerSegment * 2 * 256 * 2;  // two segments take turns
  for (uint64_t i = 0; i < count; i++) {
    ASSERT_TRUE(thread.record(i));
    if (i % kPerSegment == 0) session.collector().pass();
  }
  EXPECT_GT(session.collector().pool().released(), 1000u);
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, count));
}

TEST(Drain, OldRecordsOfAnEarlierLapAreNotFoundAgain) {
  Session session;
  RecordingThread first(session.arena());
  for (uint64_t i = 0; i < kPerSegment; i++) ASSERT_TRUE(first.record(i));
  const uint32_t index = first.segment();
  first.die();
  session.collector().pass();
  RecordingThread second(session.arena(), {2, 2, 2});
  ASSERT_TRUE(second.record(7));
  ASSERT_EQ(second.segment(), index);
  second.die();
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(second.serial()), count_up(7, 8));
}

TEST(Drain, RecordsOfLivingThreadsAreDrainedAtTheEndAndTheThreadsNamedAsCutOff) {
  Session session;
  RecordingThread thread(session.arena());
  thread.record(0);
  thread.reserve(32);
  thread.record(1);
  session.collector().pass();
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.numbers().at(thread.serial()), count_up(0, 2));
  ASSERT_EQ(spool.gaps(MLRUN_GAP_CUT_OFF).size(), 1u);
  EXPECT_EQ(load(session.arena().control().state), uint32_t{MLRUN_STOP});
}

TEST(Drain, FirstAndLastOfAFrameEncloseTheTimesOfPublication) {
  Session session;
  RecordingThread thread(session.arena());
  std::vector<uint64_t> stamps;
  for (uint64_t i = 0; i < 50; i++) {
    thread.record(i);
    session.collector().pass();
  }
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  for (const Frame& frame : spool.of_type(MLRUN_FRAME_DATA)) {
    uint64_t stamp = 0;
    frame.payload.copy(reinterpret_cast<char*>(&stamp), sizeof stamp, 8);
    EXPECT_LE(frame.header.first, stamp);
    EXPECT_GE(frame.header.last, stamp);
  }
}

}  // namespace
}  // namespace mlrun::collect::testing
