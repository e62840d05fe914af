// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_names.h"

#include <fcntl.h>
#include <linux/fs.h>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"

namespace mlrun::summary {
namespace {

class FileNamesTest : public ::testing::Test {
 protected:
  // ino 0: a path that only names use.
  int64_t file(const std::string& path, int64_t ino = 0) {
    model::FileRow row;
    row.file_id = static_cast<int64_t>(files_.size()) + 1;
    row.path = path;
    row.dev = 1;
    row.ino = ino;
    files_.push_back(row);
    return row.file_id;
  }
  int64_t call(uint16_t func, int64_t file_id, int64_t file2_id = 0, int32_t flags = 0) {
    model::CallRow row;
    row.func = func;
    row.file_id = file_id;
    row.file2_id = file2_id;
    row.flags = flags;
    const bool opens = func == events::func::k_open;
    return names_.note(row, opens ? MLRUN_CLASS_OPEN : MLRUN_CLASS_META);
  }
  int64_t create(int64_t file_id) { return call(events::func::k_open, file_id, 0, O_WRONLY | O_CREAT | O_TRUNC); }
  int64_t move(int64_t from, int64_t to, int32_t flags = 0) {
    return call(flags == 0 ? events::func::k_rename : events::func::k_renameat2, from, to, flags);
  }
  std::string name(int64_t key) const {
    const std::string* name = names_.name_of(key);
    return name ? *name : "";
  }

  model::FileTable files_;
  FileNames names_{&files_};
};

TEST_F(FileNamesTest, AFileIsKnownByTheNameThatItWasRenamedTo) {
  const int64_t first = file("/d/ck.tmp", 7), one = file("/d/ck_0.pt"), second = file("/d/ck.tmp", 8),
                two = file("/d/ck_1.pt"), read = file("/d/ck_0.pt", 7);
  EXPECT_EQ(create(first), first);
  EXPECT_EQ(move(first, one), first);
  EXPECT_EQ(create(second), second);
  EXPECT_EQ(move(first, two), second) << "the row names the first file of that path";
  EXPECT_EQ(name(first), "/d/ck_0.pt");
  EXPECT_EQ(name(second), "/d/ck_1.pt");
  EXPECT_EQ(call(events::func::k_open, read), first) << "by its new path";
  EXPECT_EQ(names_.key(one), first);
}

TEST_F(FileNamesTest, ANumberThatIsUsedAgainIsAnotherFile) {
  const int64_t temporary = file("/d/ck.tmp", 7), one = file("/d/ck_0.pt"), two = file("/d/ck_1.pt");
  create(temporary);
  move(temporary, one);
  call(events::func::k_unlink, one);
  const int64_t later = create(temporary);
  EXPECT_NE(later, temporary);
  EXPECT_EQ(names_.file_id_of(later), temporary);
  EXPECT_EQ(names_.key(temporary), later);
  move(temporary, two);
  EXPECT_EQ(name(temporary), "/d/ck_0.pt");
  EXPECT_EQ(name(later), "/d/ck_1.pt");
}

TEST_F(FileNamesTest, LinksExchangesAndFoldersRenameToo) {
  const int64_t linked = file("/d/l.tmp", 1), place = file("/d/l"), one = file("/d/one", 2), two = file("/d/two", 3),
                inside = file("/d/step.tmp/model", 4), folder = file("/d/step.tmp"), other = file("/d/step");
  for (const int64_t created : {linked, one, two, inside}) create(created);
  call(events::func::k_link, linked, place);
  EXPECT_EQ(name(linked), "") << "it has both";
  call(events::func::k_unlink, linked);
  EXPECT_EQ(name(linked), "/d/l");
  move(one, two, RENAME_EXCHANGE);
  EXPECT_EQ(name(one), "/d/two");
  EXPECT_EQ(name(two), "/d/one");
  move(folder, other);
  EXPECT_EQ(name(inside), "/d/step/model");
}

TEST_F(FileNamesTest, FailedCallsAndUnopenedFilesChangeNothing) {
  const int64_t path = file("/d/a"), other = file("/d/b");
  move(path, other);
  EXPECT_EQ(name(path), "");
  EXPECT_EQ(names_.key(other), other);
}

}  // namespace
}  // namespace mlrun::summary
