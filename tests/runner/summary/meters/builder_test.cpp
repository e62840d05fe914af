// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/builder.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

constexpr int64_t kMiB = 1 << 20;
using testing::kMillisecond;
using testing::kStart;

class BuilderTest : public ::testing::Test {
 protected:
  const ProcessSummary& process(int32_t proc_id) const {
    for (const auto& process : summary_.processes) {
      if (process.proc_id == proc_id) return process;
    }
    throw std::runtime_error("no such process");
  }
  const FuncSummary& func(const std::string& name, Group group = Group::kFiles) const {
    for (const auto& func : summary_.funcs) {
      if (func.name == name && func.group == group) return func;
    }
    throw std::runtime_error("no such function");
  }

  const Summary summary_ = testing::small_training();
};

TEST_F(BuilderTest, CountsRowsByKind) {
  EXPECT_EQ(summary_.calls, 14);
  EXPECT_EQ(summary_.allocations, 5);
  EXPECT_EQ(summary_.counted_allocations, 150);
}

TEST_F(BuilderTest, KeepsFilesChannelsAndTheRestApart) {
  const Totals files = summary_.totals(Group::kFiles);
  EXPECT_EQ(files.calls, 12);
  EXPECT_EQ(files.errors, 1);
  EXPECT_EQ(files.read_calls, 7);
  EXPECT_EQ(files.write_calls, 1);
  EXPECT_EQ(files.metadata_calls, 4);
  EXPECT_EQ(files.bytes_read, 300 + 4 * kMiB + 3 * 4096);
  EXPECT_EQ(files.bytes_written, 3 * kMiB);
  EXPECT_EQ(files.time_ns, 2000 + 1000 + 1000 + 5'000'000 + 4'000'000 + 4000 + 4'000'000 + 1000);
  const Totals channels = summary_.totals(Group::kChannels);
  EXPECT_EQ(channels.calls, 1);
  EXPECT_EQ(channels.bytes_read, 16);
  EXPECT_EQ(channels.time_ns, 8'000'000);
  const Totals other = summary_.totals(Group::kOther);
  EXPECT_EQ(other.calls, 1);
  EXPECT_EQ(other.time_ns, 500'000);
}

TEST_F(BuilderTest, SumsByProcessInTheOrderOfTheTreeWithRoles) {
  ASSERT_EQ(summary_.processes.size(), 4u);
  EXPECT_EQ(summary_.processes[0].role, "main");
  EXPECT_EQ(summary_.processes[1].role, "DataLoader worker");
  EXPECT_EQ(summary_.processes[2].role, "DataLoader worker");
  EXPECT_EQ(summary_.processes[3].role, "resource tracker");
  EXPECT_EQ(process(2).parent_proc_id, 1);
  EXPECT_EQ(process(2).files().bytes_read, 2 * kMiB);
  EXPECT_EQ(process(2).files().time_ns, 2'000'000);
  EXPECT_EQ(process(3).files().bytes_read, 2 * kMiB + 3 * 4096);
  EXPECT_EQ(process(1).files().calls, 6);
  EXPECT_EQ(process(4).files().calls, 0);
}

TEST_F(BuilderTest, NamesFilesAndDirectoriesByBytes) {
  ASSERT_EQ(summary_.files.size(), 5u);
  EXPECT_EQ(summary_.files_touched, 5);
  EXPECT_EQ(summary_.files[0].path, "/data/kits/case_00000_x.npy");
  EXPECT_EQ(summary_.files[0].file_system, "xfs");
  EXPECT_EQ(summary_.files[0].totals.bytes_read, 4 * kMiB);
  EXPECT_EQ(summary_.files[1].path, "/data/out/checkpoint.pt");
  EXPECT_EQ(summary_.files[1].totals.bytes_written, 3 * kMiB);
  EXPECT_EQ(summary_.files[4].path, "/home/me/missing");
  EXPECT_EQ(summary_.files[4].totals.errors, 1);

  ASSERT_EQ(summary_.directories.size(), 3u);
  EXPECT_EQ(summary_.directories[0].path, "/data/kits");
  EXPECT_EQ(summary_.directories[0].files, 2);
  EXPECT_EQ(summary_.directories[0].totals.bytes_read, 4 * kMiB + 3 * 4096);
  EXPECT_EQ(summary_.directories[0].mount, "/data");
  EXPECT_EQ(summary_.directories[2].path, "/home/me");
  EXPECT_EQ(summary_.directories[2].totals.calls, 3);
}

TEST_F(BuilderTest, SumsByFunctionWithLatencyAndErrors) {
  EXPECT_EQ(func("read").calls, 3);
  EXPECT_EQ(func("read").bytes, 4 * kMiB);
  EXPECT_EQ(func("read").time_ns, 5'000'000);
  EXPECT_EQ(func("read").call_class, "read");
  EXPECT_NEAR(double(func("read").latency.quantile(0.5)), 1'000'000, 1'000'000 / 64.0);
  EXPECT_EQ(func("read").latency.quantile(1), 3'000'000);
  EXPECT_EQ(func("read").latency.max(), 3'000'000);
  EXPECT_EQ(func("read", Group::kChannels).calls, 1);
  EXPECT_EQ(func("fread").bytes, 300);
  EXPECT_EQ(func("open").calls, 2);
  EXPECT_EQ(func("fork", Group::kOther).call_class, "process");
  ASSERT_EQ(summary_.errors.size(), 1u);
  EXPECT_EQ(summary_.errors[0].name, "stat");
  EXPECT_EQ(summary_.errors[0].err, ENOENT);
  EXPECT_EQ(summary_.errors[0].calls, 1);
  EXPECT_EQ(func("stat").errors, 1);
}

TEST_F(BuilderTest, SortsRequestSizesIntoPowersOfTwo) {
  ASSERT_EQ(summary_.sizes.size(), 5u);
  EXPECT_EQ(summary_.sizes[0].low_bytes, 256);
  EXPECT_EQ(summary_.sizes[0].calls, 1);
  EXPECT_EQ(summary_.sizes[1].low_bytes, 4096);
  EXPECT_EQ(summary_.sizes[1].calls, 3);
  EXPECT_EQ(summary_.sizes[1].bytes, 3 * 4096);
  EXPECT_EQ(summary_.sizes[2].low_bytes, kMiB);
  EXPECT_EQ(summary_.sizes[2].calls, 2);
  EXPECT_EQ(summary_.sizes[3].low_bytes, 2 * kMiB);
  EXPECT_EQ(summary_.sizes[4].direction, Direction::kWrite);
  EXPECT_EQ(summary_.sizes[4].low_bytes, 2 * kMiB);
}

TEST_F(BuilderTest, DistinguishesSequentialFromRandomPerDescription) {
  const FileAccessPattern& reads = summary_.file_access[size_t(Direction::kRead)];
  EXPECT_EQ(reads.sequential.calls, 5);  // configuration, three of case A, the first of case B
  EXPECT_EQ(reads.sequential.bytes, 300 + 4 * kMiB + 4096);
  EXPECT_EQ(reads.forward.calls, 1);
  EXPECT_EQ(reads.backward.calls, 1);
  EXPECT_EQ(reads.unknown.calls, 0);
  const FileAccessPattern& writes = summary_.file_access[size_t(Direction::kWrite)];
  EXPECT_EQ(writes.sequential.calls, 1);  // anywhere, with O_APPEND
  EXPECT_EQ(writes.sequential.bytes, 3 * kMiB);
}

TEST_F(BuilderTest, FindsWhatWasReadTwice) {
  EXPECT_EQ(summary_.reread.bytes_read, 300 + 4 * kMiB + 3 * 4096);
  EXPECT_EQ(summary_.reread.distinct_bytes, 300 + 2 * kMiB + 3 * 4096);
  EXPECT_EQ(summary_.reread.bytes_left_out, 0);
}

TEST_F(BuilderTest, SpreadsBytesOverTheDurationOfTheCall) {
  EXPECT_EQ(summary_.start_ns, kStart);
  EXPECT_EQ(summary_.bin_ns, kMillisecond);
  ASSERT_EQ(summary_.timeline.size(), 38u);
  EXPECT_EQ(summary_.timeline[1].bytes_read, 300);
  EXPECT_EQ(summary_.timeline[10].bytes_read, kMiB);
  EXPECT_EQ(summary_.timeline[11].bytes_read, 0);
  EXPECT_EQ(summary_.timeline[13].bytes_read, 2 * kMiB / 3);
  EXPECT_EQ(summary_.timeline[14].bytes_read, 4 * kMiB / 3 - 2 * kMiB / 3);
  EXPECT_EQ(summary_.timeline[33].bytes_written, 3 * kMiB / 4);
  int64_t read = 0, written = 0;
  for (const TimeBin& bin : summary_.timeline) {
    read += bin.bytes_read;
    written += bin.bytes_written;
  }
  EXPECT_EQ(read, 300 + 4 * kMiB + 3 * 4096);
  EXPECT_EQ(written, 3 * kMiB);
}

TEST_F(BuilderTest, GivesPhasesTheCallsOfTheirProcessAndItsDescendants) {
  ASSERT_EQ(summary_.phases.size(), 2u);
  EXPECT_EQ(summary_.phases[0].calls, 3);
  EXPECT_EQ(summary_.phases[0].bytes_read, 4 * kMiB);
  EXPECT_EQ(summary_.phases[0].io_ns, 5'000'000);
  EXPECT_EQ(summary_.phases[1].calls, 3);
  EXPECT_EQ(summary_.phases[1].bytes_read, 3 * 4096);
  EXPECT_EQ(summary_.phases[1].bytes_written, 0);
}

TEST_F(BuilderTest, FindsTheHeapPeakAndItsOwner) {
  const ProcessSummary& main = process(1);
  EXPECT_EQ(main.heap_peak.ts_ns, kStart + 3 * kMillisecond);
  EXPECT_EQ(main.heap_peak.recorded_bytes, 5 * kMiB);
  EXPECT_EQ(main.heap_peak.counted_bytes, 64 << 10);
  EXPECT_EQ(main.recorded_allocations, 3);
  EXPECT_EQ(main.counted_allocations, 150);
  ASSERT_EQ(main.heap_libraries.size(), 2u);
  EXPECT_EQ(main.heap_libraries[0].name, "/usr/lib/libtorch_cpu.so");
  EXPECT_EQ(main.heap_libraries[0].live_bytes, 4 * kMiB);
  EXPECT_EQ(main.heap_libraries[1].live_bytes, kMiB);
  EXPECT_EQ(process(2).heap_peak.bytes(), kMiB);
}

TEST_F(BuilderTest, PutsRolesAndPhaseFiguresIntoTheSmallTables) {
  model::TraceInfo info = testing::small_training_info();
  complete(info, summary_);
  EXPECT_EQ(info.processes[3].role, "resource tracker");
  EXPECT_EQ(info.phases[0].bytes_read, 4 * kMiB);
}

TEST(EmptyBuilderTest, FollowsNoReadAtAnUnknownOffset) {
  Builder builder;
  model::CallRow row = testing::transfer(1, testing::kRead, 1, 1, 0, 10, 4096, 100);
  row.offset_source = model::OffsetSource::kUnknown;
  builder.add(row);
  const Summary summary = builder.finish({});
  EXPECT_EQ(summary.reread.bytes_left_out, 100);
  EXPECT_EQ(summary.file_access[0].unknown.bytes, 100);
}

TEST(EmptyBuilderTest, GivesAnEmptySummary) {
  const Summary summary = Builder().finish({});
  EXPECT_EQ(summary.calls, 0);
  EXPECT_TRUE(summary.processes.empty());
  EXPECT_TRUE(summary.files.empty());
  EXPECT_TRUE(summary.timeline.empty());
  EXPECT_EQ(summary.totals(Group::kFiles).calls, 0);
}

TEST(EmptyBuilderTest, ShowsRowsOfProcessesAndFilesThatHaveNoRow) {
  Builder builder;
  builder.add(testing::transfer(7, testing::kRead, 42, 1, 0, 10, 0, 5));
  builder.add(testing::call(0, testing::kStat, 0, 1, 10));
  const Summary summary = builder.finish({});
  ASSERT_EQ(summary.processes.size(), 2u);
  EXPECT_EQ(summary.processes[0].role, "unknown");
  EXPECT_EQ(summary.totals(Group::kFiles).calls, 2);
  ASSERT_EQ(summary.files.size(), 2u);
  EXPECT_EQ(summary.files[0].path, "file 42");
  EXPECT_EQ(summary.files[1].file_id, 0);
  EXPECT_EQ(summary.files[1].totals.calls, 1);
  EXPECT_EQ(summary.files_touched, 1);
}

}  // namespace
}  // namespace mlrun::summary
