// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/mllog.h"

#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kWallOffsetNs = 1'700'000'000'000'000'000;

TraceClock clock_with_wall_time() {
  std::vector<mlrun_frame_anchor> anchors;
  for (uint64_t ms = 0; ms <= 10'000; ms += 100) {
    const uint64_t ns = ms * kMillisecond;
    anchors.push_back({ns * 2, 10, ns, ns + kWallOffsetNs, ns});
  }
  auto clock = TraceClock::make(std::move(anchors), true);
  EXPECT_TRUE(clock);
  return *std::move(clock);
}

std::string line(int64_t ms, const std::string& type, const std::string& key, const std::string& metadata = "{}",
                 const std::string& value = "null") {
  return fmt::format(
             R"([1,0]<stdout>:::MLLOG {{"time_ms": {}, "event_type": "{}", "key": "{}", "value": {}, "metadata": {}}})",
             kWallOffsetNs / kMillisecond + ms, type, key, value, metadata) +
         "\n";
}

Mllog read(const std::string& text) {
  static const TraceClock clock = clock_with_wall_time();
  MllogReader reader(clock);
  std::istringstream lines(text);
  reader.read(lines);
  return reader.finish(0, 9'000 * kMillisecond);
}

TEST(Mllog, IntervalsBecomePhasesNamedByTheirEpoch) {
  const Mllog log =
      read("epoch 1 starts\n" + line(1000, "INTERVAL_START", "epoch_start", R"({"epoch_num": 1, "lineno": 3})") +
           line(2000, "INTERVAL_END", "epoch_stop", R"({"epoch_num": 1, "lineno": 9})") +
           line(2000, "INTERVAL_START", "eval_start", R"({"epoch_num": 1})") +
           line(2500, "INTERVAL_END", "eval_stop", R"({"epoch_num": 1})"));
  ASSERT_EQ(log.phases.size(), 2u);
  EXPECT_EQ(log.phases[0].name, "epoch 1");
  EXPECT_EQ(log.phases[0].phase_id, 1);
  EXPECT_EQ(log.phases[0].ts_ns, 1000 * kMillisecond);
  EXPECT_EQ(log.phases[0].end_ns(), 2001 * kMillisecond) << "the end may be anywhere in its millisecond";
  EXPECT_GE(log.phases[0].error_ns, kMillisecond);
  EXPECT_LT(log.phases[0].error_ns, 2 * kMillisecond);
  EXPECT_EQ(log.phases[1].name, "eval 1");
  EXPECT_EQ(log.phases[1].ts_ns, 2001 * kMillisecond) << "a millisecond is in one phase alone";
  ASSERT_EQ(log.marks.size(), 2u);
  EXPECT_EQ(log.marks[0].name, "epoch_start");
  EXPECT_EQ(log.marks[0].dur_ns, 1000 * kMillisecond);
  EXPECT_EQ(log.unreadable_lines + log.unmatched_ends, 0u);
}

TEST(Mllog, AnEndBelongsToTheIntervalOfItsEpoch) {
  const Mllog log = read(line(1000, "INTERVAL_START", "block_start", R"({"first_epoch_num": 1})") +
                         line(1500, "INTERVAL_START", "block_start", R"({"first_epoch_num": 2})") +
                         line(2000, "INTERVAL_END", "block_stop", R"({"first_epoch_num": 1})"));
  ASSERT_EQ(log.phases.size(), 2u);
  EXPECT_EQ(log.phases[0].end_ns(), 2001 * kMillisecond);
  EXPECT_EQ(log.phases[1].end_ns(), 9000 * kMillisecond) << "without an end it lasts until the run's";
  EXPECT_EQ(log.marks[1].dur_ns, -1);
}

TEST(Mllog, PointsKeepTheirValueAsJson) {
  const Mllog log = read(line(700, "POINT_IN_TIME", "eval_accuracy", "{}", R"({"dice": 0.5})") +
                         line(300, "POINT_IN_TIME", "seed", "{}", "42"));
  ASSERT_EQ(log.marks.size(), 2u);
  EXPECT_EQ(log.marks[0].name, "seed");
  EXPECT_EQ(log.marks[0].value, "42");
  EXPECT_EQ(log.marks[0].dur_ns, -1);
  EXPECT_EQ(log.marks[1].value, R"({"dice":0.5})");
  EXPECT_TRUE(log.phases.empty());
}

TEST(Mllog, CountsWhatItCannotUse) {
  const Mllog log = read(":::MLLOG nothing\n:::MLLOG {\"time_ms\": \"x\", \"key\": \"a\"}\n:::MLLOG [1]\n" +
                         line(100, "INTERVAL_END", "epoch_stop") + ":::MLLOG {\"time_ms\": 1e300, \"key\": \"a\"}");
  EXPECT_EQ(log.unreadable_lines, 4u);
  EXPECT_EQ(log.unmatched_ends, 1u);
  EXPECT_TRUE(log.marks.empty());
}

TEST(Mllog, CutsALineThatNeverEnds) {
  const Mllog log =
      read(":::MLLOG {\"key\": \"" + std::string(3 << 20, 'x') + "\"}\n" + line(1, "POINT_IN_TIME", "after"));
  EXPECT_EQ(log.unreadable_lines, 1u);
  ASSERT_EQ(log.marks.size(), 1u);
}

// Two lines of 100 bytes, of a log that had 50 bytes before the run.
Mllog two_lines() {
  std::string start = line(1000, "INTERVAL_START", "epoch_start"), end = line(2000, "INTERVAL_END", "epoch_stop");
  return read(std::string(49, '.') + "\n" + start + end);
}
int64_t bytes_of(const std::string& text) { return static_cast<int64_t>(text.size()); }
const int64_t kStartBytes = bytes_of(line(1000, "INTERVAL_START", "epoch_start"));
const int64_t kEndBytes = bytes_of(line(2000, "INTERVAL_END", "epoch_stop"));

TEST(Mllog, APhaseEndsWhereTheWriteOfItsLineBegan) {
  Mllog log = two_lines();
  LogWrites writes({"/log"}, {});
  writes.add(0, 2000 * kMillisecond + 700'000, kEndBytes);
  writes.add(0, 1000 * kMillisecond + 300'000, kStartBytes);
  writes.finish();
  settle(log, writes);
  ASSERT_EQ(log.phases.size(), 1u);
  EXPECT_EQ(log.phases[0].ts_ns, 1000 * kMillisecond + 300'000);
  EXPECT_EQ(log.phases[0].end_ns(), 2000 * kMillisecond + 700'000);
  EXPECT_EQ(log.phases[0].error_ns, 0);
}

TEST(Mllog, AWriteAtAnotherTimeIsIgnored) {
  Mllog log = two_lines();
  LogWrites writes({"/log"}, {});
  writes.add(0, 2500 * kMillisecond, kStartBytes + kEndBytes);  // both were put by
  writes.finish();
  settle(log, writes);
  EXPECT_EQ(log.phases[0].ts_ns, 1000 * kMillisecond);
  EXPECT_EQ(log.phases[0].end_ns(), 2001 * kMillisecond);
  EXPECT_GE(log.phases[0].error_ns, kMillisecond);
}

TEST(Mllog, AThreadThatWasHeldUpEndsItsPhaseWithTheMillisecond) {
  Mllog log = two_lines();
  LogWrites writes({"/log"}, {});
  writes.add(0, 1000 * kMillisecond + 100'000, kStartBytes);
  writes.add(0, 2002 * kMillisecond, kEndBytes);
  writes.finish();
  settle(log, writes);
  EXPECT_EQ(log.phases[0].end_ns(), 2001 * kMillisecond);
  EXPECT_GE(log.phases[0].error_ns, kMillisecond);
}

// Ranks 7 and 8 write one log: 7 from 1000 to 3000, 8 from 2000 to 4000.
TEST(Mllog, AnEndBelongsToAStartThatTheSameProcessWrote) {
  static const TraceClock clock = clock_with_wall_time();
  MllogReader reader(clock);
  const std::pair<int64_t, int32_t> written[] = {{1000, 7}, {2000, 8}, {3000, 7}, {4000, 8}};
  const std::string text = line(1000, "INTERVAL_START", "epoch_start") + line(2000, "INTERVAL_START", "epoch_start") +
                           line(3000, "INTERVAL_END", "epoch_stop") + line(4000, "INTERVAL_END", "epoch_stop");
  std::istringstream lines(text);
  reader.read(lines);
  EXPECT_TRUE(reader.is_ambiguous());
  LogWrites writes({"/log"}, {});
  for (size_t i = 0; i < 4; ++i) {
    writes.add(0, written[i].first * kMillisecond + 100'000, i < 2 ? kStartBytes : kEndBytes, written[i].second);
  }
  writes.finish();
  reader.find_writers(writes);
  const Mllog log = reader.finish(0, 9'000 * kMillisecond);
  ASSERT_EQ(log.phases.size(), 2u);
  EXPECT_EQ(log.phases[0].proc_id, 7);
  EXPECT_EQ(log.phases[0].end_ns(), 3001 * kMillisecond);
  EXPECT_EQ(log.phases[1].proc_id, 8);
  EXPECT_EQ(log.phases[1].end_ns(), 4001 * kMillisecond);
}

TEST(Mllog, ALogOfOneProcessIsNotAmbiguous) {
  static const TraceClock clock = clock_with_wall_time();
  MllogReader reader(clock);
  std::istringstream lines(line(1000, "INTERVAL_START", "run_start") + line(1100, "INTERVAL_START", "epoch_start") +
                           line(1200, "INTERVAL_END", "epoch_stop") + line(1300, "INTERVAL_START", "epoch_start"));
  reader.read(lines);
  EXPECT_FALSE(reader.is_ambiguous());
}

TEST(Mllog, LeavesOutWhatWasBeforeTheRun) {
  static const TraceClock clock = clock_with_wall_time();
  MllogReader reader(clock);
  std::istringstream lines(line(100, "INTERVAL_START", "run_start") + line(150, "POINT_IN_TIME", "seed") +
                           line(200, "INTERVAL_START", "epoch_start", R"({"epoch_num": 1})") +
                           line(300, "INTERVAL_END", "epoch_stop", R"({"epoch_num": 1})") +
                           line(400, "INTERVAL_START", "epoch_start", R"({"epoch_num": 2})") +  // killed
                           line(900, "INTERVAL_START", "init_start") + line(1100, "INTERVAL_END", "init_stop") +
                           line(1100, "INTERVAL_START", "run_start") +
                           line(1200, "INTERVAL_START", "epoch_start", R"({"epoch_num": 1})"));
  reader.read(lines);
  const Mllog log = reader.finish(1000 * kMillisecond, 9000 * kMillisecond);
  ASSERT_EQ(log.phases.size(), 3u);
  EXPECT_EQ(log.phases[0].name, "init");
  EXPECT_EQ(log.phases[0].ts_ns, 1000 * kMillisecond) << "cut";
  EXPECT_EQ(log.phases[1].name, "run");
  EXPECT_EQ(log.phases[2].name, "epoch 1");
  EXPECT_EQ(log.phases[2].ts_ns, 1200 * kMillisecond);
  EXPECT_EQ(log.outside, 4u);
}

}  // namespace
}  // namespace mlrun::trace
