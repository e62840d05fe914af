// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/operation_names.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

class Records {
 public:
  void name(uint64_t operation, uint32_t which, std::string_view folder, std::string_view name) {
    mlrun_file_name record{};
    record.operation = operation;
    record.which = which;
    record.folder_bytes = static_cast<uint32_t>(folder.size());
    record.name_bytes = static_cast<uint32_t>(name.size());
    add(record, std::string(folder) + std::string(name));
  }

  void add(mlrun_file_name record, std::string_view text) {
    const size_t words = (sizeof record + text.size() + 7) / sizeof(uint64_t), at = words_.size();
    record.head.kind = MLRUN_KERNEL_FILE_NAME;
    record.head.bytes = static_cast<uint16_t>(words * sizeof(uint64_t));
    words_.resize(at + words);
    std::memcpy(words_.data() + at, &record, sizeof record);
    text.copy(reinterpret_cast<char*>(words_.data() + at) + sizeof record, text.size());
  }

  void give(OperationNames& names) const {
    decode::KernelReader reader(words_.data(), words_.size() * sizeof(uint64_t));
    while (reader.next()) names.add(reader);
  }

 private:
  std::vector<uint64_t> words_;
};

model::FileTable files_of(std::initializer_list<const char*> paths) {
  model::FileTable files;
  int64_t inode = 11;
  for (const char* path : paths) {
    model::FileRow file;
    file.path = file.raw_path = path;
    file.ino = ++inode;
    files.push_back(file);
  }
  return files;
}

std::string path_of(const model::FileTable& files, int64_t file_id) {
  return file_id == 0 ? "none" : files[static_cast<size_t>(file_id) - 1].path;
}

TEST(OperationNames, ANameBeginsInItsFolder) {
  Records records;
  records.name(1, 0, "folder/home/", "file");
  records.name(2, 0, "folder/home/", "../a//./b/");
  records.name(3, 0, "", "/absolute");
  records.name(4, 0, "jail/", "/in/jail");  // after chroot
  OperationNames names;
  records.give(names);
  model::FileTable files;
  names.finish(files);
  const auto path = [&](uint64_t operation) { return path_of(files, names.of(operation).file_id); };
  EXPECT_EQ(path(1), "/home/folder/file");
  EXPECT_EQ(path(2), "/home/a/b");
  EXPECT_EQ(path(3), "/absolute");
  EXPECT_EQ(path(4), "/jail/in/jail");
  EXPECT_EQ(path(5), "none");
}

TEST(OperationNames, ARenameHasTwo) {
  Records records;
  records.name(7, 0, "", "/old");
  records.name(7, 1, "folder/", "new");
  OperationNames names;
  records.give(names);
  model::FileTable files;
  names.finish(files);
  EXPECT_EQ(path_of(files, names.of(7).file_id), "/old");
  EXPECT_EQ(path_of(files, names.of(7).file2_id), "/folder/new");
}

TEST(OperationNames, APathMeansTheFileThatHasIt) {
  Records records;
  records.name(1, 0, "", "/b");
  records.name(2, 0, "", "/twice");
  records.name(3, 0, "", "/twice");
  OperationNames names;
  records.give(names);
  model::FileTable files = files_of({"/a", "/b", "/twice", "/twice"});
  names.finish(files);
  EXPECT_EQ(names.of(1).file_id, 2);
  EXPECT_EQ(names.of(2).file_id, 5) << "which one it was is not known";
  EXPECT_EQ(names.of(3).file_id, 5);
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[4].path, "/twice");
  EXPECT_EQ(files[4].ino, 0);
}

TEST(OperationNames, APathThatIsNotUtf8KeepsItsBytes) {
  Records records;
  records.name(1, 0, "", "/\xff");
  OperationNames names;
  records.give(names);
  model::FileTable files;
  names.finish(files);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path_bytes, "/\xff");
  EXPECT_NE(files[0].path, files[0].path_bytes);
}

TEST(OperationNames, DamagedOrSurplusRecordsHaveNone) {
  Records records;
  mlrun_file_name record{};
  record.operation = 1;
  record.folder_bytes = 1;
  record.name_bytes = UINT32_MAX;
  records.add(record, "x");
  record.folder_bytes = UINT32_MAX;
  record.name_bytes = 1;
  records.add(record, "x");
  records.name(2, 0, "", "/long");
  records.name(3, 0, "", "/s");
  OperationNames names(10, 4);
  records.give(names);
  model::FileTable files;
  names.finish(files);
  EXPECT_EQ(names.of(1).file_id, 0);
  EXPECT_EQ(names.of(2).file_id, 0);
  EXPECT_EQ(path_of(files, names.of(3).file_id), "/s");
  EXPECT_EQ(names.left_out(), 1u);
}

}  // namespace
}  // namespace mlrun::trace
