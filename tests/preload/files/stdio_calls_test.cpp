// SPDX-License-Identifier: Apache-2.0
// stdio leaves a record per refill and per flush: the bytes are those that strace sees, the calls add up.
#include <cerrno>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"
#include "tests/preload/files/strace_counts.h"

namespace mlrun::preload_test {
namespace {

const std::set<std::string> kReads = {"fread", "fgets", "getline", "read"};
const std::set<std::string> kWrites = {"fwrite", "fputs", "fprintf", "fflush", "write", "dprintf"};

// Sum of the results that are no errors.
uint64_t bytes(const std::vector<RecordedCall>& calls, const std::set<std::string>& functions) {
  uint64_t sum = 0;
  for (const RecordedCall& call : calls) {
    if (functions.count(call.func) != 0 && call.event.result > 0) sum += static_cast<uint64_t>(call.event.result);
  }
  return sum;
}

size_t full(const std::vector<RecordedCall>& calls, const std::set<std::string>& functions) {
  size_t number = 0;
  for (const RecordedCall& call : calls) number += functions.count(call.func) != 0 && call.event.result > 0;
  return number;
}

TEST(StdioCalls, RefillsAndFlushesAreThoseOfTheBuffer) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  const RecordedRun run({victim("files/buffer_counts"), file});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_TRUE(run.whole());
  const std::vector<std::string> expected = {
      "fopen 3: " + std::to_string(0666ull << 32 | 0x242) + " = 3",
      "fprintf 3: 4096 with 513 = 4096 flags 1",
      "fflush 3: 3904 with 488 = 3904 flags 1",
      "fflush 3: 4 with 2 = 4 flags 1",  // by rewind
      "fseek 3: 0 at 0 = 0 flags 1",
      "fgets 3: 4096 with 1 = 4096 flags 1",
      "fread 3: 4096 with 2 = 3908 flags 1",
      "fflush 3: 4 with 3 = 4 flags 65",  // by fclose, behind the end of the file
      "fclose 3: 0 = 0 flags 1"};
  EXPECT_EQ(rows(run.calls_on(file), data_row), expected);
}

// A call that fills the buffer and writes on past it, or empties it and reads on, asks the kernel twice and is one
// record.
constexpr size_t kLargeWrites = 1, kLargeReads = 2;

TEST(StdioCalls, EverySymbolThatWritesAgreesWithStrace) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  const StraceCounts strace = strace_counts({victim("files/writes_streams"), file}, file);
  const RecordedRun run({victim("files/writes_streams"), file});
  ASSERT_EQ(run.exit_code(), 0);
  const auto calls = run.calls_on(file);
  EXPECT_EQ(bytes(calls, kWrites), strace.write_bytes);
  EXPECT_EQ(full(calls, kWrites), strace.writes - kLargeWrites);
  EXPECT_GT(strace.write_bytes, 40000u);
  EXPECT_EQ(full(calls, {"dprintf"}), 4u);
}

TEST(StdioCalls, EverySymbolThatReadsAgreesWithStrace) {
  const TemporaryFolder folder;
  const std::string file = folder / "file", same = folder / "same";
  run_traced({victim("files/writes_streams"), file});
  std::filesystem::copy(file, same);
  const StraceCounts strace = strace_counts({victim("files/reads_streams"), file}, file);
  const RecordedRun run({victim("files/reads_streams"), same});
  ASSERT_EQ(run.exit_code(), 0);
  const auto calls = run.calls_on(same);
  EXPECT_EQ(bytes(calls, kReads), strace.read_bytes);
  EXPECT_EQ(full(calls, kReads), strace.reads - kLargeReads);
  EXPECT_EQ(bytes(calls, kWrites), strace.write_bytes);
  EXPECT_GT(strace.read_bytes, 60000u);
}

TEST(StdioCalls, CallsServedAddUp) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  const RecordedRun run({victim("files/buffer_counts"), file});
  uint64_t served = 0;
  for (const RecordedCall& call : run.calls_on(file)) {
    if (call.event.flags & MLRUN_CALL_STDIO) served += call.event.arg2;
  }
  // 1000 fprintf, fflush, fputs, rewind, fgets, 3 fread, fputs, fclose
  EXPECT_EQ(served, 1009u);
}

TEST(StdioCalls, ThreadsThatShareAStreamCountEachByteOnce) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  const RecordedRun run({victim("files/shared_stream"), file});
  ASSERT_EQ(run.exit_code(), 0);
  const uint64_t size = std::filesystem::file_size(file);
  const auto calls = run.calls_on(file);
  EXPECT_EQ(bytes(calls, kWrites), size);
  EXPECT_EQ(bytes(calls, kReads), size);
  EXPECT_EQ(full(calls, kWrites), (size + 4095) / 4096);
}

TEST(StdioCalls, UnusualStreamsPassThroughOrAreRecordedCorrectly) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/odd_streams"), folder / "file"});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), "?!\n");
  EXPECT_EQ(run.calls_on("/dev/null").size(), 0u);  // descriptor 0, which memory streams do not use
  EXPECT_EQ(rows(run.calls_on("/dev/full"), data_row),
            (std::vector<std::string>{"fopen 3: " + std::to_string(0666ull << 32 | 0x241) + " = 3",
                                      "fflush 3: 12 with 2 = -28 flags 1", "fflush 3: 8 with 2 = -28 flags 1",
                                      "fclose 3: 0 = -28 flags 1"}));
  EXPECT_EQ(rows(run.calls_of({"pclose"}), data_row), (std::vector<std::string>{"pclose 3: 0 = 0 flags 1"}));
  const auto calls = run.calls_on(folder / "file");
  EXPECT_EQ(bytes(calls, kWrites), 9u);  // what the wide stream wrote is not seen
  EXPECT_EQ(bytes(calls, kReads), 9u);   // texts with a 0 in them
  EXPECT_EQ(bytes(run.calls_on("/dev/zero"), kReads), 4096u);
  const auto failed = run.calls_on("/nowhere/at/all");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].event.result, -2);
}

TEST(StdioCalls, ABufferThatCannotBeWrittenIsAFailedFlush) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  const RecordedRun run({victim("files/failed_flushes"), file});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), "1 bcdefg\n22\n28\n-1 22\n");  // as without the library
  std::vector<std::string> got;
  for (const RecordedCall& call : run.calls_on(file))
    got.push_back(call.func + " " + std::to_string(call.event.result));
  const std::vector<std::string> expected = {
      "fopen 3",  "fwrite 4096", "fflush 3904", "fclose 0",  // the file
      "fopen 3",  "lseek 5",     "fwrite -22",  "fclose 0",  // the line was read ahead: no fgets
      "fopen 3",  "lseek 5",     "fseek -22",   "fflush -22", "freopen 3",  "fclose 0",  "freopen 3",
      "fclose 0", "fopen 4",     "lseek 5",     "fseek -22",  "fflush -22", "fseek -22", "fflush -22"};
  EXPECT_EQ(got, expected);
  EXPECT_EQ(rows(run.calls_on("/dev/null"), data_row).back(), "fflush 3: 7 with 2 = 7 flags 1");
  EXPECT_EQ(rows(run.calls_on("/dev/full"), data_row).at(1), "fflush 3: 7 with 2 = -28 flags 1");
}

TEST(StdioCalls, TemporaryFilesHaveTheNamesThatLibcGaveThem) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/temporary_files"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  std::string names;
  const auto made = run.calls_of({"mkstemp"});
  ASSERT_EQ(made.size(), 9u);
  for (size_t i = 0; i < 8; i++) {
    names += made[i].path + "\n";
    EXPECT_EQ(made[i].cwd, folder.path());
    ASSERT_NE(made[i].file, nullptr);
    EXPECT_EQ(made[i].file->event.origin, MLRUN_ORIGIN_OPENED);
    EXPECT_EQ(made[i].event.w3 & 02000, i == 2 || i == 6 ? 02000u : 0u);  // O_APPEND
  }
  EXPECT_EQ(names, run.output());
  EXPECT_EQ(made[8].event.result, -22);
  for (const RecordedCall& call : run.calls_of({"tmpfile"})) {
    ASSERT_NE(call.file, nullptr);
    EXPECT_NE(call.file->event.inode, 0u);
    EXPECT_NE(call.file_path().find("(deleted)"), std::string::npos);
  }
  EXPECT_EQ(run.calls_of({"tmpfile"}).size(), 2u);
}

constexpr uint32_t kAtExit = MLRUN_CALL_STDIO | MLRUN_CALL_AT_EXIT;

class ManyStreams : public testing::TestWithParam<const char*> {};

TEST_P(ManyStreams, FlushedAtOnceHaveRowsOrAreCounted) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/flushes_many"), folder.path(), GetParam()});
  ASSERT_EQ(run.exit_code(), 0);
  const auto flushes = run.calls_of({"fflush"});
  EXPECT_EQ(flushes.size(), 64u);
  EXPECT_EQ(bytes(flushes, kWrites), 640u);
  EXPECT_EQ(run.totals().failures[MLRUN_FAIL_STREAMS], 6u);
  const bool at_exit = std::string(GetParam()) == "return";
  for (const RecordedCall& call : flushes) EXPECT_EQ(call.event.flags, at_exit ? kAtExit : MLRUN_CALL_STDIO + 0u);
}

INSTANTIATE_TEST_SUITE_P(, ManyStreams, testing::Values("fflush", "fcloseall", "return"),
                         [](const auto& info) { return std::string(info.param); });

TEST(StreamsAtTheEnd, AreRecordedAsStraceSeesThemWritten) {
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  for (const char* how : {"return", "exit", "_exit"}) {
    const StraceCounts strace = strace_counts({victim("files/exits_dirty"), file, how}, file);
    const RecordedRun run({victim("files/exits_dirty"), file, how});
    ASSERT_EQ(run.exit_code(), 0);
    const auto calls = run.calls_on(file);
    EXPECT_EQ(bytes(calls, kWrites), strace.write_bytes) << how;
    EXPECT_EQ(full(calls, kWrites), strace.writes) << how;
    EXPECT_EQ(run.output(), how == std::string("_exit") ? "" : "waiting");
    for (const RecordedCall& call : run.calls_of({"fflush"})) EXPECT_EQ(call.event.flags, kAtExit);
  }
}

TEST(StreamsAtTheEnd, WithoutTheirDescriptorFailAsTheFlushWill) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/exits_dirty"), folder / "file", "closed"});
  ASSERT_EQ(run.exit_code(), 0);
  const auto flushes = run.calls_of({"fflush"});
  ASSERT_EQ(flushes.size(), 2u);
  EXPECT_EQ(flushes[0].event.result + flushes[1].event.result, 7 - EBADF);
}

TEST(StreamsAtTheEnd, ThatALibraryFlushesLaterAreRecordedOnce) {
  const RecordedRun run({victim("files/exits_with_library")});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), "waitinglate");
  const auto flushes = run.calls_of({"fflush"});
  ASSERT_EQ(flushes.size(), 2u);
  EXPECT_EQ(flushes[0].event.result, 7);
  EXPECT_EQ(flushes[0].event.flags, kAtExit);
  EXPECT_EQ(flushes[1].event.result, 4) << "what it put in itself";
}

// What another thread may close meanwhile is not looked at.
TEST(StreamsAtTheEnd, AreOnlyTheStandardOnesIfAnotherThreadRuns) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/exits_dirty"), folder / "file", "thread"});
  ASSERT_EQ(run.exit_code(), 0);
  const auto flushes = run.calls_of({"fflush"});
  ASSERT_EQ(flushes.size(), 1u);
  EXPECT_EQ(flushes[0].event.result, 7);
  EXPECT_EQ(run.output(), "waiting");
}

}  // namespace
}  // namespace mlrun::preload_test
