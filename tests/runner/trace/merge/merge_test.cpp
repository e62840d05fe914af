// SPDX-License-Identifier: Apache-2.0
// Tests the whole merge: order, repeatability, twins, losses, and failures.
#include "runner/trace/merge/merge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "runner/events/alloc_class.h"
#include "runner/util/drop_counts.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

namespace fs = std::filesystem;
namespace func = events::func;
using testing::DescriptorCall;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;
using Numbers = TraceFolder::Numbers;
using Texts = std::vector<std::string>;

SpoolWriter empty_spool() {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  spool.add_channel({});
  return spool;
}

// Calls and allocations of several threads with long and short durations, in frames that overlap in time.
SpoolWriter busy_spool(size_t events) {
  SpoolWriter spool;
  spool.add_anchor(0);
  std::mt19937_64 random(3);
  constexpr uint64_t kThreads = 6;
  std::vector<RecordBuffer> records(kThreads);
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    spool.add_channel({.serial = thread + 1, .tid = 100 + static_cast<uint32_t>(thread)});
    const uint64_t path = records[thread].add_string("/none/" + std::to_string(thread));
    records[thread].add(
        testing::OpenFileRecord{.number = static_cast<uint32_t>(thread) + 1, .inode = thread, .path = path});
  }
  uint64_t now = 0;
  for (size_t i = 0; i < events; ++i) {
    const uint64_t thread = random() % kThreads;
    now += random() % 500;
    const uint64_t start = ticks_at(now),
                   duration = ticks_at(random() % 50 == 0 ? random() % 3'000'000 : random() % 400);
    if (random() % 2 == 0) {
      records[thread].add(testing::Allocation{.start = start, .address = 16 * (random() % 100'000)});
    } else {
      records[thread].add(DescriptorCall{
          .start = start, .duration = duration, .result = 10, .open_file = static_cast<uint32_t>(thread) + 1});
    }
    if (random() % 1000 != 0) continue;
    spool.pass_at(now);
    for (uint64_t channel = 0; channel < kThreads; ++channel) spool.add_data(channel + 1, records[channel]);
  }
  for (uint64_t channel = 0; channel < kThreads; ++channel) spool.add_data(channel + 1, records[channel]);
  spool.add_anchor(now + kMillisecond);
  return spool;
}

void expect_merged(const TraceFolder& folder, const SpoolWriter& spool, unsigned threads = 2) {
  const auto merged = folder.merge(spool, threads);
  ASSERT_TRUE(merged) << merged.error().text;
}

TEST(Merge, GivesTheSameTablesAgainAndWithAnyNumberOfThreads) {
  const SpoolWriter spool = busy_spool(600'000);
  const TraceFolder folder;
  expect_merged(folder, spool, 1);
  const Numbers ids = folder.numbers("call", "file_id"), starts = folder.numbers("call", "ts");
  const Numbers offsets = folder.numbers("call", "offset"), addresses = folder.numbers("alloc", "addr");
  const std::string first = folder.fingerprint();
  expect_merged(folder, spool, 1);
  EXPECT_TRUE(folder.fingerprint() == first) << "the same bytes";
  EXPECT_FALSE(fs::exists(folder.path() + "/tables/call/part-00003.parquet"));
  expect_merged(folder, spool, 4);
  EXPECT_TRUE(fs::exists(folder.path() + "/tables/call/part-00002.parquet")) << "more threads, smaller slices";
  std::vector<int64_t> sorted_starts, sorted_again;
  for (const auto& ts : starts) sorted_starts.push_back(*ts);
  for (const auto& ts : folder.numbers("call", "ts")) sorted_again.push_back(*ts);
  std::sort(sorted_starts.begin(), sorted_starts.end());
  std::sort(sorted_again.begin(), sorted_again.end());
  EXPECT_EQ(sorted_starts, sorted_again);
  EXPECT_EQ(folder.numbers("alloc", "addr").size(), addresses.size());
  EXPECT_EQ(std::count(offsets.begin(), offsets.end(), std::nullopt),
            std::count_if(ids.begin(), ids.end(), [](const auto&) { return true; }))
      << "no open was recorded, so offsets are unknown";
}

TEST(Merge, OrdersRowsByEndAcrossRowGroupsAndByStartWithin) {
  const TraceFolder folder;
  expect_merged(folder, busy_spool(900'000), 3);
  int64_t end_before = 0, rows = 0, groups = 0;
  std::vector<fs::path> parts;
  for (const auto& part : fs::directory_iterator(folder.path() + "/tables/call")) parts.push_back(part.path());
  std::sort(parts.begin(), parts.end());
  for (const auto& part : parts) {
    const auto metadata = parquet::ParquetFileReader::OpenFile(part.string())->metadata();
    for (int group = 0; group < metadata->num_row_groups(); ++group, ++groups) {
      const auto range = [&](const char* column) {
        const auto statistics =
            metadata->RowGroup(group)->ColumnChunk(metadata->schema()->ColumnIndex(column))->statistics();
        const auto& numbers = static_cast<const parquet::Int64Statistics&>(*statistics);
        return std::pair(numbers.min(), numbers.max());
      };
      EXPECT_GE(range("end_min").first, end_before);
      EXPECT_EQ(range("end_min").first, range("end_min").second);
      EXPECT_LE(range("ts").second, range("end_max").second);
      end_before = range("end_max").second;
      rows += metadata->RowGroup(group)->num_rows();
    }
  }
  EXPECT_GT(groups, 3);
  const Numbers ids = folder.numbers("call", "call_id"), starts = folder.numbers("call", "ts");
  const Numbers durations = folder.numbers("call", "dur"), ends = folder.numbers("call", "end_max");
  ASSERT_EQ(static_cast<int64_t>(ids.size()), rows);
  for (size_t i = 1; i < ids.size(); ++i) {
    ASSERT_EQ(*ids[i], *ids[i - 1] + 1);
    ASSERT_LE(*starts[i] + *durations[i], *ends[i]);
    if (*ends[i] == *ends[i - 1]) {
      ASSERT_GE(*starts[i], *starts[i - 1]);
    }
  }
}

// Three threads give a block to each other: each free of it begins before the next one gets it, and is over later.
TEST(Merge, DurationsOfFreesAreJoinedAndTheBlockBelongsToTheNextOneMeanwhile) {
  SpoolWriter spool;
  spool.add_anchor(0);
  constexpr uint64_t kThreads = 3, kRounds = 60'000, kStep = 1000;
  std::vector<RecordBuffer> records(kThreads);
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    spool.add_channel({.serial = thread + 1, .tid = 100 + static_cast<uint32_t>(thread)});
  }
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t now = round * kStep, serial = round % kThreads + 1;
    RecordBuffer& mine = records[serial - 1];
    mine.add(testing::Allocation{.start = ticks_at(now), .address = 4096, .duration = ticks_at(10)});
    mine.add(testing::Allocation{.kind = MLRUN_FREE, .start = ticks_at(now + 500), .address = 4096, .size = 4104});
    const bool inside = round % 7 == 0;  // a handler's call, or the end of a frame, between the two
    if (inside) mine.add(testing::Allocation{.start = ticks_at(now + 501), .address = 8192, .size = 10, .usable = 24});
    if (inside) mine.add(testing::Allocation{.kind = MLRUN_FREE, .start = ticks_at(now + 502), .address = 8192});
    if (inside) mine.add_free_time(ticks_at(now + 502), ticks_at(3));
    if (round % 1000 < kThreads) spool.add_data(serial, mine);
    mine.add_free_time(ticks_at(now + 500), ticks_at(2 * kStep));
    mine.add_free_time(ticks_at(now + 499), ticks_at(5));  // of a free that is not there
  }
  for (uint64_t serial = 1; serial <= kThreads; ++serial) spool.add_data(serial, records[serial - 1]);
  spool.add_anchor(kRounds * kStep + kMillisecond);
  const TraceFolder folder;
  expect_merged(folder, spool, 3);
  const Numbers durations = folder.numbers("alloc", "dur"), addresses = folder.numbers("alloc", "addr");
  const Numbers starts = folder.numbers("alloc", "ts"), ends = folder.numbers("alloc", "end_max");
  const Texts ops = folder.texts("alloc", "op");
  uint64_t frees = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i] != "free") continue;
    frees += addresses[i] == 4096 ? 1 : 0;
    ASSERT_TRUE(durations[i]) << i;
    ASSERT_NEAR(static_cast<double>(*durations[i]), addresses[i] == 4096 ? 2 * kStep : 3, 1) << i;
    ASSERT_LE(*starts[i] + *durations[i], *ends[i]);
  }
  EXPECT_EQ(frees, kRounds);
  const auto peaks = folder.numbers("summary_process", "heap_peak_recorded");
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks[0], 4104) << "one block at a time; the handler's is not above the threshold";
}

TEST(Merge, ManyRowsOfOneTimeAreStillCutIntoSlices) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  for (int i = 0; i < 2'000'000; ++i) {
    records.add(testing::Allocation{.start = ticks_at(kMillisecond)});
    if (records.bytes() > 60'000) spool.add_data(1, records);
  }
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool, 4);
  EXPECT_EQ(folder.numbers("alloc", "ts").size(), 2'000'000u);
  EXPECT_TRUE(fs::exists(folder.path() + "/tables/alloc/part-00001.parquet"));
}

TEST(Merge, OfTwoFramesWithOneNumberTheLongerOneCounts) {
  SpoolWriter spool = empty_spool();
  RecordBuffer shorter, longer;
  for (uint64_t i = 1; i <= 3; ++i)
    longer.add(DescriptorCall{.start = ticks_at(i * kMillisecond), .result = int64_t(i)});
  shorter.add(DescriptorCall{.start = ticks_at(kMillisecond), .result = 1});
  spool.add_data(1, shorter, 0, 1);
  RecordBuffer again = longer;
  spool.add_data(1, longer, 0, 1);
  spool.add_data(1, again, 0, 1);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.numbers("call", "ret"), Numbers({1, 2, 3}));
  EXPECT_EQ(folder.texts("loss", "reason"), Texts({}));
}

TEST(Merge, CountsWhatWasDroppedTornAndMissing) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  records.add(DescriptorCall{.start = ticks_at(kMillisecond)});
  spool.pass_at(2 * kMillisecond);
  spool.add_data(1, records, 5);
  records.add(DescriptorCall{.start = ticks_at(3 * kMillisecond)});
  spool.add_data(1, records, 0, 10);
  spool.add_counters(1, 9 * kMillisecond, {}, true, {3, 1});
  spool.add_gap(1, MLRUN_GAP_TORN, kMillisecond, 2 * kMillisecond, 64);
  spool.add_gap(1, MLRUN_GAP_TORN, 3 * kMillisecond, 4 * kMillisecond, 32);
  spool.add_gap(0, MLRUN_GAP_PAUSED, 5 * kMillisecond, 6 * kMillisecond, 0);
  spool.session()["collector"] = {{"failures", {{"fd_range", 4}, {"no_room", 2}}}};
  const TraceFolder folder;
  expect_merged(folder, spool);
  std::map<std::string, int64_t> losses;
  const Texts reasons = folder.texts("loss", "reason");
  const Numbers counts = folder.numbers("loss", "count"), first = folder.numbers("loss", "first");
  for (size_t i = 0; i < reasons.size(); ++i) losses[reasons[i]] += *counts[i];
  EXPECT_EQ(losses["buffer full"], 4) << "3 that the channel counted, and 1 that only frames count";
  EXPECT_EQ(losses["gave up waiting for room"], 1);
  EXPECT_EQ(losses["frames missing from the spool"], 8 + 0);
  EXPECT_EQ(losses["begun and never finished"], 96);
  EXPECT_EQ(losses["paused"], 1);
  EXPECT_EQ(losses["descriptors that no table holds"], 4);
  EXPECT_EQ(folder.texts("coverage", "subject"), Texts({"processes"}));
  EXPECT_EQ(folder.run()["losses"].size(), losses.size());
}

// A drops frame comes before the counters frame of the same pass. Where a collector died in between, or an older version
// wrote no drops frame, the rest is of no kind.
TEST(Merge, ReportsWhatDroppedRecordsContained) {
  SpoolWriter spool = empty_spool();
  util::DropCounts drops{};
  drops[MLRUN_DROP_FULL][MLRUN_DROPPED_FILE_CALL] = 3;
  drops[MLRUN_DROP_FULL][MLRUN_DROPPED_WAIT] = 1;
  const std::string payload = util::drops_payload(kMillisecond, drops);
  spool.add_frame(MLRUN_FRAME_DROPS, 1, payload.data(), payload.size());
  spool.add_counters(1, 9 * kMillisecond, {}, true, {6, 2});
  spool.session()["collector"] = {{"failures", {{"no_channel", 5}}}, {"without_channel", {{"free", 4}}}};
  const TraceFolder folder;
  expect_merged(folder, spool);
  std::map<std::string, int64_t> kinds;
  const Texts reasons = folder.texts("loss", "reason"), names = folder.texts("loss", "kind");
  const Numbers counts = folder.numbers("loss", "count");
  for (size_t i = 0; i < reasons.size(); ++i) kinds[reasons[i] + ": " + names[i]] += *counts[i];
  EXPECT_EQ(kinds["buffer full: file call"], 3);
  EXPECT_EQ(kinds["buffer full: wait"], 1);
  EXPECT_EQ(kinds["buffer full: "], 2);
  EXPECT_EQ(kinds["gave up waiting for room: "], 2);
  EXPECT_EQ(kinds["no room for a thread's channel: free"], 4);
  EXPECT_EQ(kinds["no room for a thread's channel: "], 1);
  EXPECT_EQ(kinds.size(), 6u);
  EXPECT_EQ(folder.run()["losses"][0].value("kind", ""), "");
  EXPECT_EQ(folder.run()["losses"][1].value("kind", ""), "file call");
}

TEST(Merge, ReportsBytesThatTheRecordedCallsDidNotMove) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  records.add(DescriptorCall{.start = ticks_at(kMillisecond), .result = 1000});
  records.add(DescriptorCall{.func = func::k_write, .start = ticks_at(2 * kMillisecond), .result = 5'000'000});
  records.add(testing::EndRecord{ticks_at(5 * kMillisecond), 4'000'000, 2, 5'000'100, 1});
  spool.add_data(1, records);
  spool.add_gap(1, MLRUN_GAP_CUT_OFF, 0, 0, 1);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.texts("coverage", "subject"), Texts({"bytes read", "what processes did after the end of the run"}));
  EXPECT_EQ(folder.numbers("coverage", "seen"), Numbers({1000, -1}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({4'000'000, 1}));
}

TEST(Merge, ReportsProgramsAndChildrenThatCouldNotBeTraced) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const uint64_t path = records.add_string("/bin/static-tool");
  records.add(testing::PathCall{.func = func::k_execve,
                                .start = ticks_at(kMillisecond),
                                .w3 = MLRUN_EXEC_STATIC,
                                .result = 0,
                                .path = path,
                                .flags = MLRUN_CALL_PASSED_FD});
  records.add(DescriptorCall{.func = func::k_fork, .start = ticks_at(2 * kMillisecond), .fd = -1, .result = 4711});
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.texts("coverage", "subject"), Texts({"/bin/static-tool", "child processes"}));
  EXPECT_EQ(folder.texts("coverage", "detail")[0], "statically linked");
}

TEST(Merge, TurnsCountersIntoChanges) {
  SpoolWriter spool = empty_spool();
  spool.add_counters(1, 10 * kMillisecond, {{48, 10, 4, 0, 0}, {2048, 2, 0, 5000, 0}});
  spool.add_counters(1, 20 * kMillisecond, {{48, 13, 13, 0, 0}});
  spool.add_counters(1, 30 * kMillisecond, {{2048, 2, 1, 5000, 2500}}, true);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.numbers("alloc_small", "class_bytes"), Numbers({48, 2048, 48, 2048}));
  EXPECT_EQ(folder.numbers("alloc_small", "mallocs"), Numbers({10, 2, 3, 0}));
  EXPECT_EQ(folder.numbers("alloc_small", "frees"), Numbers({4, 0, 9, 1}));
  EXPECT_EQ(folder.numbers("alloc_small", "bytes"), Numbers({6 * 56, 5000, -6 * 56, -2500}));
  EXPECT_EQ(folder.numbers("alloc_small", "thread_id"), Numbers({1, 1, 1, 1}));
}

TEST(Merge, KeepsEveryColumnOfACallUnchanged) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  records.add(DescriptorCall{func::k_mmap, ticks_at(1 * kMillisecond), 0, -1, 4096, 0x7f0000000000, MLRUN_NO_OFFSET, 0,
                             0, 3 | 0x22ull << 32});
  records.add(DescriptorCall{func::k_pwrite, ticks_at(2 * kMillisecond), ticks_at(1000), 5, 100, -28, 300, 0, 0, 0});
  records.add(DescriptorCall{func::k_fcntl, ticks_at(3 * kMillisecond), 0, 5, 1030, 6, MLRUN_NO_OFFSET, 0, 0, 10});
  records.add(DescriptorCall{func::k_read, ticks_at(4 * kMillisecond), 0, 5, 10, -125, MLRUN_NO_OFFSET, 0,
                             MLRUN_CALL_CANCELLED, 0});
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.texts("call", "func"), Texts({"mmap", "pwrite", "fcntl", "read"}));
  EXPECT_EQ(folder.numbers("call", "fd"), Numbers({std::nullopt, 5, 5, 5}));
  EXPECT_EQ(folder.numbers("call", "requested"), Numbers({4096, 100, std::nullopt, 10}));
  EXPECT_EQ(folder.numbers("call", "ret"), Numbers({0x7f0000000000, -1, 6, -1}));
  EXPECT_EQ(folder.numbers("call", "err"), Numbers({0, ENOSPC, 0, ECANCELED}));
  EXPECT_EQ(folder.numbers("call", "flags"), Numbers({0x22, 0, 1030, 0}));
  EXPECT_EQ(folder.numbers("call", "arg2"), Numbers({3, 0, 10, 0}));
  EXPECT_EQ(folder.numbers("call", "offset"), Numbers({std::nullopt, 300, std::nullopt, std::nullopt}));
  EXPECT_EQ(folder.numbers("call", "dur"), Numbers({0, 1000, 0, 0}));
  EXPECT_EQ(folder.numbers("call", "ts")[1], int64_t(testing::kStartNs + 2 * kMillisecond));
  EXPECT_EQ(folder.numbers("call", "device_ns"), Numbers(4));
}

TEST(Merge, KeepsTheLengthOfACallThatTookManySeconds) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const Numbers lengths = {3 * kSecond, 5 * kSecond, 600 * kSecond};  // beyond 31, 32 and 39 bits
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  for (size_t i = 0; i < lengths.size(); ++i) {
    records.add(DescriptorCall{.start = ticks_at((i + 1) * kMillisecond), .duration = ticks_at(*lengths[i])});
  }
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  const Numbers found = folder.numbers("call", "dur");
  ASSERT_EQ(found.size(), lengths.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(*found[i], *lengths[i], 1000) << "rounding of the counter's rate";
}

TEST(Merge, KeepsTheRequestedAddressOfAMapping) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const auto add = [&](uint16_t number, uint64_t ms, std::vector<uint64_t> more) {
    std::vector<uint64_t> words = {0, ticks_at(ms * kMillisecond), 0, 4096, 0x7000 << 8, MLRUN_NO_OFFSET, 0, 3};
    words.insert(words.end(), more.begin(), more.end());
    records.add_record(static_cast<uint16_t>(MLRUN_CALL + number), UINT32_MAX, std::move(words));
  };
  add(func::k_mmap, 1, {});  // of an earlier version
  add(func::k_mmap, 2, {0, 0});
  add(func::k_mmap, 3, {0, 0x10000000});
  add(func::k_mremap, 4, {0, 0x20000000});
  add(func::k_mmap, 5, {0, UINT64_MAX});
  add(func::k_mmap, 6, {UINT64_MAX << 8, 1});  // damaged: there is no second file
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.numbers("call", "wanted_addr"), Numbers({std::nullopt, 0, 0x10000000, 0x20000000, -1, 1}));
  EXPECT_EQ(folder.numbers("call", "file2_id"), Numbers(6));
}

TEST(Merge, TakesMonotonicChannelsBesideTicks) {
  SpoolWriter spool = empty_spool();
  spool.add_channel({.serial = 2, .tid = 101, .clock_kind = MLRUN_CLOCK_MONOTONIC});
  RecordBuffer records;
  records.add(DescriptorCall{.start = testing::kStartNs + 5 * kMillisecond, .duration = 70});
  spool.add_data(2, records);
  records.add(DescriptorCall{.start = ticks_at(4 * kMillisecond), .duration = ticks_at(100)});
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  EXPECT_EQ(folder.numbers("call", "ts"),
            Numbers({int64_t(testing::kStartNs + 4 * kMillisecond), int64_t(testing::kStartNs + 5 * kMillisecond)}));
  EXPECT_EQ(folder.numbers("call", "dur"), Numbers({100, 70}));
}

TEST(Merge, WithoutRowsHasAllTables) {
  const TraceFolder folder;
  expect_merged(folder, empty_spool());
  EXPECT_EQ(folder.numbers("call", "ts"), Numbers({}));
  EXPECT_EQ(folder.numbers("alloc", "addr"), Numbers({}));
  EXPECT_EQ(folder.numbers("alloc_small", "bytes"), Numbers({}));
  EXPECT_EQ(folder.run()["totals"]["events"], 0);
}

TEST(Merge, ReplacesAnEarlierTraceOfTheSameFolderAndLeavesNothingElse) {
  const TraceFolder folder;
  expect_merged(folder, busy_spool(1000));
  expect_merged(folder, empty_spool());
  EXPECT_EQ(folder.numbers("call", "ts"), Numbers({}));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, Texts({"run.json", "session.json", "spool.bin", "tables"}));
}

TEST(Merge, FailsWithOneLineAndWithoutATraceWhenItCannotBeDone) {
  const TraceFolder folder;
  const auto expect_failure = [&](const std::string& about) {
    const auto merged = trace::merge({folder.path(), 1, false});
    ASSERT_FALSE(merged);
    EXPECT_NE(merged.error().text.find(about), std::string::npos) << merged.error().text;
    EXPECT_EQ(merged.error().text.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(folder.path() + "/run.json"));
    EXPECT_FALSE(fs::exists(folder.path() + "/merging"));
  };
  expect_failure("session.json");
  std::ofstream(folder.path() + "/session.json") << "{";
  expect_failure("damaged");
  std::ofstream(folder.path() + "/session.json") << "{}";
  expect_failure("spool.bin");

  SpoolWriter without_anchors;
  without_anchors.add_channel({});
  without_anchors.write(folder.path());
  expect_failure("clock anchors");

  SpoolWriter newer = empty_spool();
  newer.write(folder.path());
  std::fstream spool(folder.path() + "/spool.bin", std::ios::in | std::ios::out | std::ios::binary);
  spool.seekp(offsetof(mlrun_frame, version));
  spool.put(2);
  spool.close();
  const auto merged = trace::merge({folder.path(), 1, false});
  ASSERT_TRUE(merged) << "a wrong checksum makes it damage, not a version";
}

TEST(Merge, PutsRunFactsFromTheSessionIntoRunJson) {
  SpoolWriter spool = empty_spool();
  spool.session()["environment"] = {{"LANG", "C"}};
  spool.session()["wait_status"] = 256;
  RecordBuffer records;
  records.add(testing::ProcessRecord{.clock = ticks_at(kMillisecond), .pid = 100});
  spool.add_data(1, records);
  const TraceFolder folder;
  expect_merged(folder, spool);
  const auto run = folder.run();
  EXPECT_EQ(run["environment"]["LANG"], "C");
  EXPECT_EQ(run["schema_version"], 1);
  EXPECT_EQ(run["clock"]["kind"], "tsc");
  EXPECT_EQ(run["clock"]["anchors"], 11);
  EXPECT_EQ(run["clock"]["realtime_offset_end_ns"], testing::kRealtimeOffsetNs);
  for (const auto& at : run["clock"]["realtime_offset_by_time"]) EXPECT_EQ(at.at(1), testing::kRealtimeOffsetNs);
  EXPECT_EQ(folder.numbers("process", "wait_status"), Numbers({256}));
}

}  // namespace
}  // namespace mlrun
