// SPDX-License-Identifier: Apache-2.0
// Tests the records of calls that name files: the path as passed, and all that is needed to make it absolute.
#include <fcntl.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/preload/files/rows.h"

namespace mlrun::preload_test {
namespace {

std::vector<std::string> path_rows(const std::vector<RecordedCall>& calls, const std::string& hidden) {
  return rows(calls, [&](const RecordedCall& call) { return path_row(call, hidden); });
}

TEST(PathCalls, BothGenerationsOfSymbolsNameWhatTheyWorkOn) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/names_files"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  const auto calls = run.calls_of({"chdir", "mkdir", "mkdirat", "creat", "stat", "lstat", "fstatat", "statx", "rename",
                                   "renameat", "renameat2", "unlink", "unlinkat", "rmdir"});
  const std::string stat = "stat f (in ~) = 0", lstat = "lstat f (in ~) = 0", at = "fstatat f (by 1) = 0";
  const std::vector<std::string> expected = {"chdir ~ = 0",
                                             "mkdir d (in ~) = 0",
                                             "mkdirat d/e (by 1) = 0",
                                             "creat f (in ~) = 4",
                                             "creat d/g (in ~) = 4",
                                             stat,
                                             stat,
                                             stat,
                                             stat,
                                             lstat,
                                             lstat,
                                             lstat,
                                             lstat,
                                             at,
                                             at,
                                             "fstatat  (by 1) = 0",
                                             at,
                                             at,
                                             "statx f (by 1) = 0",
                                             "statx none (in ~) = -2",
                                             "rename f -> d/h (in ~) = 0",
                                             "renameat d/h -> i (in ~) (by 4) = 0",
                                             "renameat2 ~/none -> j (second by 4) = -2",
                                             "chdir d (in ~) = 0",
                                             "stat g (in ~/d) = 0",
                                             "unlink g (in ~/d) = 0",
                                             "unlinkat d/e (by 4) = 0",
                                             "unlink i (in ~) = 0",
                                             "rmdir d (in ~) = 0",
                                             "rmdir d (in ~) = -2"};
  EXPECT_EQ(path_rows(calls, folder.path()), expected);
  EXPECT_EQ(run.calls_of({"fstat"}).size(), 4u);
}

TEST(PathCalls, NamesThatEndAtTheEndOfMemoryAreNotTruncated) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/page_ends"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  std::vector<std::string> expected;
  for (size_t bytes = 1; bytes <= 48; bytes++) expected.insert(expected.end(), 3, std::string(bytes, 'n'));
  std::vector<std::string> names;
  for (const RecordedCall& call : run.calls_of({"open"})) {
    if (call.path.starts_with("n")) names.push_back(call.path);
  }
  EXPECT_EQ(names, expected);
}

TEST(PathCalls, FlagsAndModesAreKept) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/names_files"), folder.path()});
  const auto word = [&](const std::string& func, size_t index) { return run.calls_of({func}).at(index).event.w3; };
  EXPECT_EQ(word("open", 0), 0x90000u);
  EXPECT_EQ(word("mkdir", 0), 0751u);
  EXPECT_EQ(word("mkdirat", 0), 0700u);
  EXPECT_EQ(word("creat", 0), 0640ull << 32 | 0x241);
  EXPECT_EQ(word("fstatat", 0), 0x100u);
  EXPECT_EQ(word("fstatat", 2), 0x1000u);
  EXPECT_EQ(word("statx", 0), 0x200ull << 32 | 0x4000);
  EXPECT_EQ(word("renameat2", 0), 1u);
  EXPECT_EQ(word("unlinkat", 0), 0x200u);
}

TEST(PathCalls, EachOpenDefinesItsFileByDeviceAndInode) {
  const TemporaryFolder folder;
  const RecordedRun run({victim("files/opens"), folder.path()});
  ASSERT_EQ(run.exit_code(), 0);
  unsigned long device = 0, inode = 0;
  ASSERT_EQ(std::sscanf(run.output().c_str(), "%lu %lu", &device, &inode), 2);
  const std::string by_cwd = "open made (in ~) = 5", by_dirfd = "openat made (by 1) = 5";
  const std::vector<std::string> expected = {"open . (in ~) = 3",
                                             "open made (in ~) = 4",
                                             by_cwd,
                                             by_cwd,
                                             by_cwd,
                                             by_cwd,
                                             by_cwd,
                                             by_dirfd,
                                             "openat made (in ~) = 5",
                                             by_dirfd,
                                             "openat made (in ~) = 5",
                                             "open unnamed/.. (in ~) = -2",
                                             "open none (in ~) = -2",
                                             "open made (in ~) = -20",
                                             "openat made = -9",
                                             "open . (in ~) = 5"};
  const auto opens = run.calls_of({"open", "openat"});
  EXPECT_EQ(path_rows(opens, folder.path()), expected);
  std::set<uint32_t> numbers;
  for (const RecordedCall& open : opens) {
    if (open.event.result < 0) {
      EXPECT_EQ(open.event.open_file, 0u);
      continue;
    }
    ASSERT_NE(open.file, nullptr);
    EXPECT_TRUE(numbers.insert(open.event.open_file).second);
    const bool is_unnamed = (open.event.w3 & O_TMPFILE) == O_TMPFILE;
    EXPECT_EQ(open.file->event.origin, is_unnamed ? MLRUN_ORIGIN_UNNAMED : MLRUN_ORIGIN_OPENED);
    EXPECT_EQ(open.file->event.path, open.event.path);
    EXPECT_EQ(open.file->event.cwd, open.event.cwd);
    EXPECT_EQ(open.file->event.dirfd_file, open.event.dirfd_file);
    EXPECT_EQ(open.file->event.device, device);
    if (open.path != "made") continue;
    EXPECT_EQ(open.file->event.inode, inode);
    EXPECT_EQ(open.file->event.mode, 0100604u);
  }
}

TEST(PathCalls, PointersThatLeadNowhereFailAsUntraced) {
  const TemporaryFolder folder;
  const std::string path = folder / "here";
  std::ofstream(path) << "x";
  RunOptions untraced;
  untraced.library = "none";
  const std::string expected = run_traced({victim("files/bad_pointers"), path}, untraced).output;
  const RecordedRun run({victim("files/bad_pointers"), path});
  ASSERT_EQ(run.exit_code(), 0);
  EXPECT_EQ(run.output(), expected);
  const auto opens = run.calls_of({"open"});
  ASSERT_EQ(opens.size(), 5u);
  EXPECT_EQ(path_rows(opens, ""), (std::vector<std::string>{"open ~ = -14", "open ~" + path + " = 3", "open ~ = -14",
                                                            "open ~" + path + " = -22", "open ~ = -14"}));
  const auto statx = run.calls_of({"statx"});
  EXPECT_EQ(path_rows(statx, ""), (std::vector<std::string>{"statx ~ = -22", "statx ~" + path + " = -22"}));
  EXPECT_EQ(run.calls_of({"rename"}).at(0).event.path, 0u);
  EXPECT_EQ(run.calls_of({"renameat2"}).at(0).path, path);
  EXPECT_EQ(run.calls_of({"stat"}).at(1).path, std::string(3900, 'x'));
  EXPECT_EQ(rows(run.calls_of({"readv", "preadv"}), data_row),
            (std::vector<std::string>{"readv -1: 0 = -9", "readv 0: 0 = -14", "preadv -1: 30 at 0 = -9"}));
}

TEST(PathCalls, TheLongestPathsAreKept) {
  const RecordedRun run({victim("files/long_path")});
  ASSERT_EQ(run.exit_code(), 0);
  const auto opens = run.calls_of({"open"});
  ASSERT_EQ(opens.size(), 3u);
  EXPECT_EQ(opens[0].path.size(), 4096u);
  EXPECT_EQ(opens[1].path.size(), 4096u);
  EXPECT_EQ(opens[2].path.size(), 4095u);
  EXPECT_EQ(opens[2].path.substr(0, 6), "/././.");
  EXPECT_EQ(opens[0].event.result, -36);
  EXPECT_GE(opens[2].event.result, 3);
  EXPECT_EQ(run.whole(), true);
}

}  // namespace
}  // namespace mlrun::preload_test
