// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/files_by_inode.h"

#include <tuple>

#include <gtest/gtest.h>

#include "runner/trace/files/device_number.h"
#include "tests/runner/trace/joined_rows.h"

namespace mlrun::trace {
namespace {

TEST(FilesByInode, AFileBelowOneOnOverlayfsIsThatOne) {
  model::FileTable files;
  for (const auto& [path, number, type] :
       {std::tuple("/a", 12, "overlay"), {"/b", 13, "overlay"}, {"/c", 13, "overlay"}, {"/d", 14, "ext4"}}) {
    model::FileRow file;
    file.path = path;
    file.dev = 39;
    file.ino = number;
    file.file_system = type;
    files.push_back(file);
  }
  FilesByInode found(files, {}, {});
  EXPECT_EQ(found.find(254u << 20, 12, 0), 1);
  EXPECT_EQ(found.find(254u << 20, 13, 0), 0) << "which of the two is not known";
  EXPECT_EQ(found.find(254u << 20, 14, 0), 0) << "another file system's";
}

TEST(FilesByInode, AFileThatAlwaysExistedHasItsFirstPath) {
  FilesByInode files(files_of_inode_12({"/a", "/hard/link"}), {}, {{stat_device(254u << 20), 12, 500}});
  EXPECT_EQ(files.find(254u << 20, 12, 1), 1);
  EXPECT_EQ(files.find(254u << 20, 12, 900), 1);
  EXPECT_EQ(files.find(253u << 20, 12, 1), 0);
  EXPECT_EQ(files.find(254u << 20, 13, 1), 0);
  EXPECT_EQ(files.find(254u << 20, 0, 1), 0) << "not told";
  EXPECT_EQ(files.nameless(), 2);
}

TEST(FilesByInode, ANumberThatIsUsedAgainMeansAnotherFile) {
  const int64_t device = stat_device(254u << 20);
  // Seen at 100 and again at 150, made again at 200 (name seen at 250) and at 300 (not seen), made and seen at 400.
  FilesByInode files(files_of_inode_12({"/a", "/b", "/c"}), {{250, 2}, {100, 1}, {150, 1}, {400, 3}},
                     {{device, 12, 400}, {device, 12, 200}, {device, 12, 300}, {device, 99, 120}});
  const auto at = [&](int64_t ns) { return files.find(254u << 20, 12, ns); };
  EXPECT_EQ(at(1), 1) << "it was there before it was looked at";
  EXPECT_EQ(at(199), 1);
  EXPECT_EQ(at(200), 2);
  EXPECT_EQ(at(299), 2);
  EXPECT_EQ(at(300), 0);
  EXPECT_EQ(at(400), 3);
  EXPECT_EQ(at(INT64_MAX), 3);
}

TEST(FilesByInode, OperationsBeforeAFileWasCreatedAreNotItsOwn) {
  FilesByInode files(files_of_inode_12({"/new"}), {{250, 1}}, {{stat_device(254u << 20), 12, 200}});
  EXPECT_EQ(files.find(254u << 20, 12, 199), 0);
  EXPECT_EQ(files.find(254u << 20, 12, 200), 1);
}

}  // namespace
}  // namespace mlrun::trace
