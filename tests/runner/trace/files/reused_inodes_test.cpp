// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/reused_inodes.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "tests/runner/trace/joined_rows.h"

namespace mlrun::trace {
namespace {

model::CallRow call_on(int64_t file_id, int64_t ts_ns, int32_t err = 0) {
  model::CallRow row;
  row.origin.ts_ns = ts_ns;
  row.dur_ns = 10;
  row.file_id = file_id;
  row.err = err;
  return row;
}

TEST(ReusedInodes, CallsGiveTheFileOfANumber) {
  model::FileTable files = files_of_inode_12({"/a", "/b"});
  model::FileRow other;
  other.path = "/other";
  other.dev = stat_device(254u << 20);
  other.ino = 13;
  files.push_back(other);
  ReusedInodes reused;
  reused.load(files);
  reused.call(call_on(2, 500));
  reused.call(call_on(1, 100));
  reused.call(call_on(3, 300));
  reused.call(call_on(1, 700, ENOENT));
  reused.call(call_on(99, 300));
  EXPECT_EQ(reused.seen().size(), 4u) << "those of files that share a number, and have not failed";
  EXPECT_EQ(reused.left_out(), 0u);
  // Made while the call on it lasted.
  FilesByInode by_inode(files, reused.seen(), {{stat_device(254u << 20), 12, 505}});
  const auto at = [&](int64_t ns) { return by_inode.find(254u << 20, 12, ns); };
  EXPECT_EQ(at(1), 1);
  EXPECT_EQ(at(499), 1);
  EXPECT_EQ(at(506), 2);
  EXPECT_EQ(at(900), 2);
  EXPECT_EQ(by_inode.find(254u << 20, 13, 1), 3);
}

TEST(ReusedInodes, CallsBeyondTheLimitAreCounted) {
  ReusedInodes reused(3);
  reused.load(files_of_inode_12({"/a", "/b"}));
  reused.call(call_on(1, 100));
  reused.call(call_on(2, 200));
  EXPECT_EQ(reused.seen().size(), 2u);
  EXPECT_EQ(reused.left_out(), 1u);
}

}  // namespace
}  // namespace mlrun::trace
