// SPDX-License-Identifier: Apache-2.0
// Tests which open file a descriptor refers to after it was made, copied, inherited or its number reused.
#include <sys/resource.h>

#include <fstream>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {
namespace {

class DescriptorCalls : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(data_) << "0123456789abcdef"; }

  TemporaryFolder folder_;
  std::string data_ = folder_ / "data";
};

// Function, arg, result, number of the open file.
std::string number_row(const RecordedCall& call) {
  return call.func + " " + std::to_string(call.event.arg) + " = " + std::to_string(call.event.result) + " file " +
         std::to_string(call.event.open_file);
}

TEST_F(DescriptorCalls, CopiesNameTheSameOpenFile) {
  const RecordedRun run({victim("files/descriptors"), data_});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_TRUE(run.whole());
  auto calls = run.calls();
  const std::vector<std::string> copies = {
      "open 3 = 3 file 1",   "dup2 50 = 50 file 1", "dup2 51 = 51 file 1",    "dup3 52 = 52 file 1",
      "fcntl 3 = 53 file 1", "fcntl 3 = 54 file 1", "fcntl 3 = 32768 file 1", "fcntl 3 = 0 file 1",
      "dup2 3 = 3 file 1",   "dup -1 = -9 file 0",  "dup2 78 = -9 file 0",    "read 50 = 1 file 1",
      "read 51 = 1 file 1",  "read 52 = 1 file 1",  "read 53 = 1 file 1",     "read 54 = 1 file 1"};
  auto lines = rows(calls, number_row);
  ASSERT_GT(lines.size(), copies.size());
  lines.resize(copies.size());
  EXPECT_EQ(lines, copies);
  EXPECT_EQ(rows(run.calls_of({"dup3", "fcntl", "pipe2"}), data_row),
            (std::vector<std::string>{"dup3 52: 3 with 524288 = 52", "fcntl 3: 0 with 53 = 53",
                                      "fcntl 3: 1030 with 54 = 54", "fcntl 3: 3 = 32768", "fcntl 3: 2 with 1 = 0",
                                      "pipe2 8: 0 with " + std::to_string(0x80800ull << 32 | 9) + " = 0",
                                      "fcntl 51: 1 = 0"}));
}

TEST_F(DescriptorCalls, ReusedNumbersNameTheNewFile) {
  const RecordedRun run({victim("files/descriptors"), data_});
  const auto calls = run.calls_of({"read", "write"});
  ASSERT_EQ(calls.size(), 12u);
  const auto on = [&](size_t index) { return calls[index].file_path().substr(0, 5); };
  EXPECT_EQ(on(5), "pipe:");  // write, read: two ends of one pipe
  EXPECT_EQ(calls[5].file_path(), calls[6].file_path());
  EXPECT_EQ(calls[5].file->event.inode, calls[6].file->event.inode);
  EXPECT_EQ(on(7), "pipe:");
  EXPECT_NE(calls[7].file_path(), calls[6].file_path());
  EXPECT_EQ(calls[8].event.result, -9);  // closed
  EXPECT_EQ(calls[8].event.open_file, 0u);
  EXPECT_EQ(calls[9].file_path(), "/dev/null");  // its number was closed by closefrom
  EXPECT_EQ(on(10), "socke");                    // ... and this one by close
  EXPECT_EQ(on(11), "socke");
  for (const size_t found : {5, 6, 7, 10, 11}) EXPECT_EQ(calls[found].file->event.origin, MLRUN_ORIGIN_FOUND);
  EXPECT_EQ(calls[10].file->event.mode & 0170000, 0140000u);
  EXPECT_EQ(rows(run.calls_of({"close_range", "closefrom"}), data_row),
            (std::vector<std::string>{"close_range 51: 52 = 0", "close_range 60: 70 with 4 = 0",
                                      "closefrom 3: 4294967295 = 0"}));
  const auto copied = run.calls_of({"dup2"}).back();  // onto a number that close_range had freed
  EXPECT_EQ(copied.event.open_file, calls[6].event.open_file);
}

TEST_F(DescriptorCalls, AForkedChildKnowsWhatItInherits) {
  const RecordedRun run({victim("files/inherits"), data_, "fork"});
  ASSERT_EQ(run.exit_code(), 0);
  const auto reads = run.calls_of({"read"});
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_NE(reads[0].pid, reads[1].pid);
  EXPECT_EQ(reads[0].event.open_file, reads[1].event.open_file);
  EXPECT_EQ(reads[0].file_path(), data_);
  const auto opens = run.calls_of({"open"});
  ASSERT_EQ(opens.size(), 2u);
  EXPECT_EQ(opens[1].cwd, "/");  // the child changed its directory
  EXPECT_NE(opens[1].event.open_file, opens[0].event.open_file);
}

TEST_F(DescriptorCalls, AnExecutedProgramFindsWhatItInherits) {
  for (const std::string how : {"exec", "spawn"}) {
    const RecordedRun run({victim("files/inherits"), data_, how});
    ASSERT_EQ(run.exit_code(), 0) << how;
    const auto reads = run.calls_of({"read"});
    ASSERT_EQ(reads.size(), 2u) << how;
    EXPECT_EQ(reads[0].file_path(), data_) << how;
    EXPECT_EQ(reads[0].file->event.origin, MLRUN_ORIGIN_FOUND) << how;
    EXPECT_EQ(reads[1].file->event.origin, MLRUN_ORIGIN_OPENED) << how;
    EXPECT_EQ(reads[0].file->event.inode, reads[1].file->event.inode) << how;
  }
}

TEST_F(DescriptorCalls, AVforkChildLeavesItsParentsTableAlone) {
  const RecordedRun run({victim("files/inherits"), data_, "vfork"});
  ASSERT_EQ(run.exit_code(), 0);
  const auto reads = run.calls_of({"read"});
  ASSERT_EQ(reads.size(), 1u);  // the child's own is not recorded
  EXPECT_EQ(reads[0].file_path(), data_);
  EXPECT_EQ(run.calls_of({"close", "dup2"}).size(), 0u);
}

TEST_F(DescriptorCalls, DescriptorsBeyondTheTableAreCounted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max <= 400000) GTEST_SKIP() << "the hard limit of open files is below the table's size";
  const RecordedRun run(
      {"/bin/bash", "-c", "ulimit -v 300000; exec 3<" + data_ + "; exec " + victim("files/far_descriptor")});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.totals().failures[MLRUN_FAIL_FD_RANGE], 2u);
  const auto reads = run.calls_of({"read"});
  ASSERT_GE(reads.size(), 1u);
  EXPECT_EQ(reads.back().event.arg, 400000);
  EXPECT_EQ(reads.back().event.open_file, 0u);
}

}  // namespace
}  // namespace mlrun::preload_test
