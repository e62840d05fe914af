// SPDX-License-Identifier: Apache-2.0
// Tests the records of calls that move data or a position, for every symbol of each family.
#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {
namespace {

TEST(DataCalls, EverySymbolFillsEveryFieldOfItsFunction) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/moves_data"), folder / "data"});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.whole(), true);
  const std::vector<std::string> expected = {"open 3: 1649267442242 = 3",
                                             "write 3: 36 by page + 200 = 36",
                                             "write 3: 1 by page + 200 = 1",
                                             "writev 3: 7 = 7",
                                             "pwrite 3: 2 at 100 by page + 200 = 2",
                                             "pwrite 3: 3 at 101 by page + 200 = 3",
                                             "pwrite 3: 4 at 102 by page + 200 = 4",
                                             "pwritev 3: 7 at 103 = 7",
                                             "pwritev 3: 3 at 104 = 3",
                                             "pwritev2 3: 7 at 105 with 2 = 7",
                                             "pwritev2 3: 7 = 7",
                                             "lseek 3: 3 = 3",
                                             "lseek 3: -1 with 1 = 2",
                                             "lseek 3: 1 = 1",
                                             "lseek 3: -1 = -22",
                                             "read 3: 7 by page + 100 = 7",
                                             "read 3: 8 by page + 100 = 8",
                                             "read 3: 9 by page + 100 = 9",
                                             "readv 3: 11 = 11",
                                             "pread 3: 11 at 90 by page + 100 = 11",
                                             "pread 3: 12 at 91 by page + 100 = 12",
                                             "pread 3: 13 at 92 by page + 100 = 13",
                                             "pread 3: 14 at 93 by page + 100 = 14",
                                             "pread 3: 15 at 94 by page + 100 = 15",
                                             "preadv 3: 11 at 95 = 11",
                                             "preadv 3: 11 at 96 = 11",
                                             "preadv2 3: 11 at 97 = 11",
                                             "preadv2 3: 5 with 1 = 5",
                                             "fsync 3: 0 = 0",
                                             "fdatasync 3: 0 = 0",
                                             "ftruncate 3: 50 = 0",
                                             "ftruncate 3: 40 = 0",
                                             "close 3: 0 = 0"};
  EXPECT_EQ(rows(run.calls_on(folder / "data"), data_row), expected);
}

TEST(DataCalls, TimesAreNestedInTheProgramsOrder) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/moves_data"), folder / "data"});
  const auto calls = run.calls_on(folder / "data");
  ASSERT_GT(calls.size(), 30u);
  for (size_t i = 1; i < calls.size(); i++) {
    EXPECT_GT(calls[i].event.duration, 0u);
    EXPECT_LE(calls[i - 1].event.start + calls[i - 1].event.duration, calls[i].event.start) << i;
  }
}

TEST(DataCalls, DirectInputThatIsNotAlignedFailsAsUntraced) {
  const TemporaryFolder folder;
  const std::string file = std::string(MLRUN_TEST_VICTIMS) + "/direct.bin";  // not on tmpfs, which has no O_DIRECT
  const RecordedRun run({victim("files/direct"), file});
  const auto calls = run.calls_of({"pread", "pwrite"});
  EXPECT_EQ(
      rows(calls, data_row),
      (std::vector<std::string>{"pwrite 3: 4096 at 0 by page + 0 = 4096", "pread 3: 4096 at 0 by page + 1 = -22",
                                "pread 3: 4096 at 0 by page + 0 = 4096", "pwrite 3: 100 at 0 by page + 0 = -22"}));
}

}  // namespace
}  // namespace mlrun::preload_test
