// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/page_adds.h"

#include <utility>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"
#include "runner/trace/files/device_number.h"
#include "tests/runner/trace/joined_rows.h"

namespace mlrun::trace {
namespace {

TEST(PageAdds, PagesAreMissingInsideTheRangeThatWasAskedForAndAheadBeyondIt) {
  model::FileTable files;
  model::FileRow file;
  file.path = "/a";
  file.dev = stat_device(254u << 20);
  file.ino = 12;
  file.kind = "regular";
  files.push_back(file);
  const auto added = [](uint32_t tid, uint64_t ns, uint64_t inode, uint64_t first_page, uint32_t pages) {
    mlrun_page_add add{};
    add.head.tid = tid;
    add.head.time_ns = ns;
    add.inode = inode;
    add.first_page = first_page;
    add.device = 254u << 20;
    add.pages = pages;
    return add;
  };
  PageAdds pages;
  pages.add(added(7, 150, 12, 0, 4));    // two of them in the range
  pages.add(added(7, 160, 12, 100, 8));  // beyond it
  pages.add(added(7, 170, 13, 2, 1));    // another file
  pages.add(added(8, 150, 12, 2, 1));    // another thread
  pages.add(added(7, 300, 12, 2, 1));    // behind the call
  pages.finish(files, true);
  model::CallRow row = call(7, 100, 100);
  row.func = static_cast<uint16_t>(events::func::k_pread);
  row.file_id = 1;
  row.file_kind = model::FileKind::kRegular;
  row.offset = 8192;
  row.requested = 8192;
  const auto found = pages.of(row);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->missing, 2);
  EXPECT_EQ(found->ahead, 10);
  row.file_kind = model::FileKind::kFifo;
  EXPECT_FALSE(pages.of(row).has_value());

  mlrun_file_op operation{};
  operation.op = MLRUN_FILE_READ;
  operation.head.tid = static_cast<uint32_t>(row.origin.tid);
  operation.begin_ns = static_cast<uint64_t>(row.origin.ts_ns);
  operation.head.time_ns = static_cast<uint64_t>(row.origin.ts_ns + row.dur_ns);
  operation.device = 254u << 20;
  operation.inode = 12;
  operation.offset = operation.requested = 8192;
  ASSERT_TRUE(pages.of(operation).has_value());
  EXPECT_EQ(pages.of(operation)->missing, 2);
  EXPECT_EQ(pages.of(operation)->ahead, 10);
  operation.op = MLRUN_FILE_FAULT;
  EXPECT_EQ(pages.of(operation)->missing, 1) << "its page alone";
  EXPECT_EQ(pages.of(operation)->ahead, 11);
  operation.offset = ~uint64_t{0};
  EXPECT_EQ(pages.of(operation)->missing, 0) << "its range is not known";
  operation.op = MLRUN_FILE_WRITE;
  EXPECT_FALSE(pages.of(operation).has_value());
}

// The pages are of the file below, on another device.
TEST(PageAdds, OnOverlayfsAllPagesThatTheThreadAddedMeanwhileCount) {
  model::FileTable files;
  model::FileRow file;
  file.path = "/a";
  file.dev = 39;
  file.ino = 12;
  file.kind = "regular";
  file.file_system = "overlay";
  files.push_back(file);
  mlrun_page_add add{};
  add.head.tid = 7;
  add.head.time_ns = 150;
  add.inode = 12;
  add.device = 254u << 20;
  add.pages = 4;
  model::CallRow row = call(7, 100, 100);
  row.func = static_cast<uint16_t>(events::func::k_pread);
  row.file_id = 1;
  row.file_kind = model::FileKind::kRegular;
  row.offset = 0;
  row.requested = 8192;
  mlrun_file_op operation{};
  operation.op = MLRUN_FILE_READ;
  operation.head.tid = 7;
  operation.begin_ns = 100;
  operation.head.time_ns = 200;
  operation.device = 39;
  operation.inode = 12;
  operation.requested = 8192;
  for (const bool has_inner : {true, false}) {
    PageAdds pages;
    pages.add(add);
    pages.finish(files, has_inner);
    ASSERT_TRUE(pages.of(row).has_value());
    EXPECT_EQ(pages.of(row)->missing, 2);
    EXPECT_EQ(pages.of(row)->ahead, 2);
    EXPECT_EQ(pages.of(operation)->missing, has_inner ? 0 : 2) << "the inner operation has them";
    EXPECT_EQ(pages.of_outermost(operation)->missing, 2) << "with those of the inner one";
  }
}

// What a copy adds to the page cache for the file that it writes was not missing.
TEST(PageAdds, ACopyCountsThePagesOfItsSource) {
  enum { kOnDisk, kOnOverlay };
  model::FileTable files;
  for (const int which : {kOnDisk, kOnOverlay}) {
    model::FileRow file;
    file.path = which == kOnDisk ? "/a" : "/b";
    file.dev = which == kOnDisk ? stat_device(254u << 20) : 39;
    file.ino = 12;
    file.kind = "regular";
    file.file_system = which == kOnDisk ? "ext4" : "overlay";
    files.push_back(file);
  }
  PageAdds pages;
  for (const auto& [inode, count] : {std::pair(12u, 3u), {13u, 4u}}) {
    mlrun_page_add add{};
    add.head.tid = 7;
    add.head.time_ns = 150;
    add.inode = inode;
    add.device = 254u << 20;
    add.pages = count;
    pages.add(add);
  }
  pages.finish(files, false);
  model::CallRow row = call(7, 100, 100);
  row.file_kind = model::FileKind::kRegular;
  row.offset = 0;
  row.requested = 8192;
  for (const int which : {kOnDisk, kOnOverlay}) {
    row.file_id = which + 1;
    row.func = static_cast<uint16_t>(events::func::k_sendfile);
    ASSERT_TRUE(pages.of(row).has_value());
    EXPECT_EQ(pages.of(row)->missing, 2);
    EXPECT_EQ(pages.of(row)->ahead, 1);
    row.func = static_cast<uint16_t>(events::func::k_readahead);
    ASSERT_TRUE(pages.of(row).has_value());
    EXPECT_EQ(pages.of(row)->missing, 0) << "it has not been read yet";
    EXPECT_GE(pages.of(row)->ahead, 3);
  }
  mlrun_file_op operation{};
  operation.op = MLRUN_FILE_SPLICE_READ;
  operation.head.tid = 7;
  operation.begin_ns = 100;
  operation.head.time_ns = 200;
  operation.device = 39;
  operation.inode = 12;
  operation.requested = 8192;
  EXPECT_EQ(pages.of(operation)->missing, 2);
  EXPECT_EQ(pages.of(operation)->ahead, 1);
}

}  // namespace
}  // namespace mlrun::trace
