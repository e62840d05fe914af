// SPDX-License-Identifier: Apache-2.0
// Tests recording of file calls under restrictions and little room, and switched off.
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {
namespace {

TEST(FileLimits, AConfinedProgramIsNotAskedForMore) {
  const TemporaryFolder folder;
  std::ofstream(folder / "data") << "data";
  const RecordedRun run({victim("files/confined"), folder / "data"});
  ASSERT_EQ(run.exit_code(), 0);
  const auto reads = run.calls_of({"read"});
  ASSERT_EQ(reads.size(), 3u);
  EXPECT_EQ(reads[0].event.open_file, 0u);
  EXPECT_EQ(reads[1].file_path(), folder / "data");
  EXPECT_EQ(reads[2].file_path(), folder / "data");  // defined by its open, without device and inode
  EXPECT_EQ(reads[2].file->event.inode, 0u);
  // The kernel may not be asked whether a name can be read, so only a brief call proves it (program_memory.md).
  size_t named = 0;
  for (const RecordedCall& call : run.calls_of({"open"})) {
    if (call.event.result >= 0) continue;
    EXPECT_TRUE(call.path == "relative" || call.path.empty()) << call.path;
    named += call.path == "relative" ? 1 : 0;
  }
  EXPECT_GT(named, 0u);
}

TEST(FileLimits, HandlersOnTheSmallestStackDoNotOverflowIt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "data") << "data";
  const RecordedRun run({victim("files/small_stack"), folder / "data"});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.calls_of({"open", "read", "stat", "rename", "close", "pipe", "write", "chdir"}).size(), 9u);
}

TEST(FileLimits, ThreadsDoNotMistakeEachOthersFiles) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/busy_threads"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_TRUE(run.whole());
  std::map<uint32_t, std::string> file_of_thread;
  std::set<uint32_t> numbers;
  std::map<std::string, size_t> calls;
  for (const RecordedCall& call : run.calls_on(folder.path())) {
    calls[call.func]++;
    if (call.func == "open") {
      file_of_thread.emplace(call.tid, call.path);
      EXPECT_TRUE(numbers.insert(call.event.open_file).second);
    }
    EXPECT_EQ(call.file_path(), file_of_thread[call.tid]) << call.func;
  }
  EXPECT_EQ(file_of_thread.size(), 8u);
  EXPECT_EQ(calls,
            (std::map<std::string, size_t>{
                {"open", 4000}, {"dup", 4000}, {"write", 4000}, {"lseek", 4000}, {"read", 4000}, {"close", 8000}}));
}

TEST(FileLimits, AnAddressSpaceLimitLeavesRoomForTheTable) {
  const RecordedRun run({"/bin/bash", "-c", "ulimit -v 1000000; exec cat /etc/hostname"});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_GE(run.calls_on("/etc/hostname").size(), 3u);
}

TEST(FileLimits, WithTheStreamOffNothingIsRecorded) {
  const TemporaryFolder folder;
  RunOptions options;
  options.arena.streams = MLRUN_STREAM_ALLOCS;
  const RecordedRun run({victim("files/writes_streams"), folder / "file"}, options);
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.calls_of({"open", "read", "write", "fopen", "freopen", "fwrite", "fread", "fclose", "fflush"}).size(),
            0u);
  EXPECT_EQ(run.definitions().size(), 0u);
  EXPECT_GT(run.totals().all_records(), 0u);
}

}  // namespace
}  // namespace mlrun::preload_test
