// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_trees.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

constexpr int64_t kMicrosecond = 1000;

// Files of which each is read once, in `time_ns`.
class FileTreesTest : public ::testing::Test {
 protected:
  int64_t add(const std::string& path, int64_t time_ns, int64_t bytes = 4096, int64_t offset = 0) {
    model::FileRow row;
    row.path = row.raw_path = path;
    info_.files.push_back(row);
    const auto file_id = int64_t(info_.files.size());
    builder_.add(testing::transfer(1, testing::kPread, file_id, file_id, 1, time_ns, offset, bytes));
    return file_id;
  }
  const std::vector<FileTree>& trees() { return trees_ = builder_.finish(info_).trees; }
  const FileTree& tree(const std::string& path) {
    for (const FileTree& tree : trees()) {
      if (tree.path == path || (path.empty() && tree.kind == "rest")) return tree;
    }
    throw std::runtime_error("no row of " + path);
  }

  Builder builder_{BuilderOptions{}};
  model::TraceInfo info_;
  std::vector<FileTree> trees_;
};

TEST_F(FileTreesTest, MakesOneRowOfADataSetInManyFolders) {
  for (int folder = 0; folder < 384; ++folder) {
    for (int file = 0; file < 10; ++file) add(fmt::format("/data/set/{}/{}.jpg", folder, file), 100 * kMicrosecond);
  }
  add("/home/me/train.toml", 5 * kMicrosecond);
  ASSERT_EQ(trees().front().path, "/data/set");
  EXPECT_EQ(trees_.front().kind, "folder");
  EXPECT_EQ(trees_.front().folders, 384);
  EXPECT_EQ(trees_.front().files, 3840);
  EXPECT_EQ(trees_.front().totals.time_ns, 384'000 * kMicrosecond);
  EXPECT_EQ(trees_.front().totals.bytes_read, 3840 * 4096);
}

TEST_F(FileTreesTest, DividesAFolderWhereAFewPartsHaveMostOfTheTime) {
  for (int i = 0; i < 20; ++i) {
    add(fmt::format("/run/data/train/{}", i), 100 * kMicrosecond);
    add(fmt::format("/run/data/val/{}", i), 50 * kMicrosecond);
    add(fmt::format("/run/data/other{}/x", i), kMicrosecond);
  }
  add("/run/ck.pt", 2000 * kMicrosecond);
  EXPECT_EQ(tree("/run/data/train").files, 20);
  EXPECT_EQ(tree("/run/data/val").totals.time_ns, 1000 * kMicrosecond);
  EXPECT_EQ(tree("/run/ck.pt").kind, "file");
}

TEST_F(FileTreesTest, HasModulesAndLibrariesInOneRow) {
  add("/venv/lib/python3.11/site-packages/torch/__init__.py", 10 * kMicrosecond);
  add("/usr/lib/x86_64-linux-gnu/libm.so.6", 10 * kMicrosecond);
  add("/home/me/__pycache__/net.cpython-311.pyc", 10 * kMicrosecond);
  add("/home/me/net.py", 10 * kMicrosecond);
  add("/home/me/data.bin", kMicrosecond);
  ASSERT_EQ(trees().size(), 2U);
  EXPECT_EQ(trees_[0].path, "/home/me/data.bin");
  EXPECT_EQ(trees_[1].kind, "imports");
  EXPECT_EQ(trees_[1].files, 4);
}

TEST_F(FileTreesTest, SeparatesMissingPathsFromFiles) {
  for (int i = 0; i < 3; ++i) add(fmt::format("/data/{}", i), kMicrosecond);
  for (int i = 0; i < 7; ++i) {
    model::FileRow row;
    row.path = row.raw_path = fmt::format("/data/not_{}", i);
    info_.files.push_back(row);
    model::CallRow missing = testing::call(1, testing::kStat, int64_t(info_.files.size()), 1, kMicrosecond);
    missing.err = 2;
    missing.ret = -1;
    builder_.add(missing);
  }
  EXPECT_EQ(tree("/data").missing, 7);
  EXPECT_EQ(tree("/data").files, 3);
}

TEST_F(FileTreesTest, CountsTheListingOfAFolderForTheFolder) {
  add("/data/a", kMicrosecond);
  model::FileRow row;
  row.path = row.raw_path = "/data";
  row.kind = "directory";
  info_.files.push_back(row);
  builder_.add(testing::call(1, testing::kOpen, int64_t(info_.files.size()), 1, 5 * kMicrosecond));
  EXPECT_EQ(tree("/data").files, 1);
  EXPECT_EQ(tree("/data").totals.time_ns, 6 * kMicrosecond);
}

TEST_F(FileTreesTest, CountsOrderRepetitionAndChecksForTheEnd) {
  const int64_t file_id = add("/data/shard.bin", kMicrosecond, 4096, 0);
  for (int i = 0; i < 3; ++i) {
    builder_.add(
        testing::transfer(1, testing::kPread, file_id, file_id, 2, kMicrosecond, 4096, 4096));  // on, then again
  }
  model::CallRow end = testing::transfer(1, testing::kPread, file_id, file_id, 3, kMicrosecond, 8192, 0);
  end.requested = 4096;
  builder_.add(end);
  const FileTree& shard = tree("/data/shard.bin");
  EXPECT_EQ(shard.end_checks, 1);
  EXPECT_EQ(shard.sequential_bytes, 8192);
  EXPECT_EQ(shard.random_bytes, 8192);
  EXPECT_EQ(shard.followed_bytes, 16384);
  EXPECT_EQ(shard.distinct_bytes, 8192);
}

TEST_F(FileTreesTest, HasEveryFileInOneRow) {
  for (int i = 0; i < 300; ++i) add(fmt::format("/d{}/{}", i % 150, i), i * kMicrosecond);
  FileTree all;
  for (const FileTree& tree : trees()) all.add(tree);
  EXPECT_EQ(all.files, 300);
  EXPECT_EQ(all.totals.time_ns, 300 * 299 / 2 * kMicrosecond);
  EXPECT_EQ(trees_.size(), kTreesMost + 1);
  EXPECT_EQ(trees_.back().kind, "rest");
}

}  // namespace
}  // namespace mlrun::summary
