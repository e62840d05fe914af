// SPDX-License-Identifier: Apache-2.0
// Tests that directory streams leave a record for each system call, and none for the entries in between.
#include <fstream>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"
#include "tests/preload/files/strace_counts.h"

namespace mlrun::preload_test {
namespace {

TEST(DirectoryCalls, HaveOneRecordForEachRefillThatStraceSees) {
  const TemporaryFolder folder;
  constexpr int kEntries = 3000;
  for (int i = 0; i < kEntries; i++) std::ofstream(folder / ("a file with number " + std::to_string(i)));
  const StraceCounts strace = strace_counts({victim("files/directories"), folder.path()}, folder.path());
  const RecordedRun run({victim("files/directories"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), std::to_string(kEntries + 2) + "\n");
  const auto refills = run.calls_of({"readdir"});
  EXPECT_EQ(refills.size(), strace.directory_reads);
  EXPECT_GT(refills.size(), 8u);
  uint64_t served = 0;
  size_t ends = 0;
  for (const RecordedCall& refill : refills) {
    served += refill.event.arg2;
    ends += refill.event.result == 0;
    EXPECT_EQ(refill.file_path(), folder.path());
  }
  EXPECT_EQ(served, 2u * (kEntries + 3) + 10);
  EXPECT_EQ(ends, 2u);
}

TEST(DirectoryCalls, OpensAndClosesNameTheDirectory) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/directories"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  std::vector<std::string> functions;
  for (const RecordedCall& call : run.calls_on(folder.path())) {
    if (call.func != "readdir") functions.push_back(call.func);
  }
  EXPECT_EQ(functions, (std::vector<std::string>{"opendir", "closedir", "open", "fdopendir", "closedir"}));
  const auto failed = run.calls_on("/nowhere/at/all");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].event.result, -2);
  EXPECT_EQ(run.calls_of({"opendir"})[0].file->event.mode & 0170000, 0040000u);
}

}  // namespace
}  // namespace mlrun::preload_test
