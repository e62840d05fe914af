// SPDX-License-Identifier: Apache-2.0
// Files of a merged trace.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::OpenFileRecord;
using testing::PathCall;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

// One thread whose calls come a millisecond after one another.
class Files : public ::testing::Test {
 protected:
  Files() {
    spool_.add_anchor(0);
    spool_.add_anchor(1000 * kMillisecond);
    spool_.add_channel({});
  }
  uint64_t string(const std::string& text) { return records_.add_string(text); }
  void open(const OpenFileRecord& file, uint64_t flags = 0) {
    records_.add(file);
    records_.add(PathCall{.start = next(),
                          .w3 = flags,
                          .path = file.path,
                          .open_file = file.number,
                          .dirfd_file = file.dirfd_file,
                          .cwd = file.cwd});
  }
  void call(PathCall call) {
    call.start = next();
    call.flags |= MLRUN_CALL_PASSED_FD;
    call.result = 0;
    records_.add(call);
  }
  void merge(unsigned threads = 2) {
    spool_.add_data(1, records_);
    const auto merged = folder_.merge(spool_, threads);
    ASSERT_TRUE(merged) << merged.error().text;
  }
  uint64_t next() { return ticks_at(++calls_ * kMillisecond); }

  SpoolWriter spool_;
  RecordBuffer records_;
  testing::TraceFolder folder_;
  uint64_t calls_ = 0;
};

TEST_F(Files, PathsAreMadeAbsoluteByDirfdAndWorkingDirectory) {
  open({.number = 1, .inode = 10, .mode = 040755, .path = string("/data/set")});
  open({.number = 2, .inode = 11, .path = string("../other/./x.npy"), .dirfd_file = 1});
  open({.number = 3, .inode = 12, .path = string("y.npy"), .cwd = string("/home/me")});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/data/set", "/data/other/x.npy", "/home/me/y.npy"}));
  EXPECT_EQ(folder_.texts("file", "raw_path"), Texts({"/data/set", "../other/./x.npy", "y.npy"}));
  EXPECT_EQ(folder_.texts("file", "kind"), Texts({"directory", "regular", "regular"}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 2, 3}));
  EXPECT_EQ(folder_.numbers("call", "ofd_id"), Numbers({1, 2, 3}));
}

TEST_F(Files, OneFileIsOneRowHoweverOftenItIsOpened) {
  const uint64_t path = string("/data/a");
  for (uint32_t number = 1; number <= 5; ++number) open({.number = number, .inode = 10, .path = path});
  merge();
  EXPECT_EQ(folder_.numbers("file", "file_id"), Numbers({1}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 1, 1, 1, 1}));
}

TEST_F(Files, AnInodeThatIsUsedAgainUnderAnotherPathIsAnotherFile) {
  open({.number = 1, .inode = 10, .path = string("/none/first.tmp")});
  open({.number = 2, .inode = 10, .path = string("/none/second.tmp")});
  open({.number = 3, .inode = 11, .path = string("/none/first.tmp")});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/none/first.tmp", "/none/second.tmp", "/none/first.tmp"}));
  EXPECT_EQ(folder_.numbers("file", "ino"), Numbers({10, 10, 11}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 2, 3}));
}

TEST_F(Files, ASymbolicLinkLeadsToTheFileItself) {
  const std::string root = std::filesystem::canonical(folder_.path()).string() + "/files";
  std::filesystem::create_directories(root + "/real");
  std::ofstream(root + "/real/file") << "x";
  std::filesystem::create_symlink("real/file", root + "/link");
  struct stat status {};
  ASSERT_EQ(::stat((root + "/real/file").c_str(), &status), 0);
  const auto device = static_cast<uint32_t>(status.st_dev);
  open({.number = 1, .device = device, .inode = status.st_ino, .path = string(root + "/link")});
  open({.number = 2, .device = device, .inode = status.st_ino, .path = string(root + "/real/../real/file")});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({root + "/real/file"}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 1}));
  EXPECT_FALSE(folder_.texts("file", "file_system")[0].empty());
}

TEST_F(Files, NamesOfDescriptorsMeanTheFileOfTheirInode) {
  struct stat own {};
  ASSERT_EQ(::fstat(0, &own), 0);  // ours is of no interest
  spool_.session()["standard_files"] = {{{"device", 0x801}, {"inode", 30}, {"path", "/none/given"}}};
  open({.number = 1, .inode = 20, .path = string("/dev/stdin")});
  open({.number = 2, .inode = 20, .path = string("/none/real")});
  open({.number = 3, .inode = 30, .path = string("/proc/self/fd/7")});
  open({.number = 4, .inode = 40, .path = string("/dev/fd/3")});
  open({.number = 5, .inode = 50, .mode = 0010600, .path = string("/dev/stdin")});
  open({.number = 6, .inode = 20, .path = string("/proc/77/fd/0")});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/none/real", "/none/given", "[8:1:40]", "pipe:[50]"}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 1, 2, 3, 4, 1}));
}

TEST_F(Files, CallsByPathFindTheFileThatWasOpenedThereEvenLater) {
  const uint64_t path = string("/none/a"), other = string("/none/b");
  call({.func = events::func::k_stat, .path = path});
  open({.number = 1, .inode = 10, .path = path});
  call({.func = events::func::k_unlink, .path = other});
  call({.func = events::func::k_rename, .path = path, .second_path = other});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/none/a", "/none/b"}));
  EXPECT_EQ(folder_.numbers("file", "ino"), Numbers({10, std::nullopt}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 1, 2, 1}));
  EXPECT_EQ(folder_.numbers("call", "file2_id"), Numbers({std::nullopt, std::nullopt, std::nullopt, 2}));
}

TEST_F(Files, ADefinitionMayFollowItsUseInTheSpool) {
  const uint64_t folder = string("/data"), name = string("x");
  RecordBuffer definitions = records_;
  records_.clear();
  open({.number = 2, .inode = 11, .path = name, .dirfd_file = 1});
  spool_.add_data(1, records_);
  definitions.add(OpenFileRecord{.number = 1, .inode = 10, .mode = 040755, .path = folder});
  spool_.add_data(1, definitions);
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/data", "/data/x"}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({2}));
}

TEST_F(Files, DescriptorsThatWereFoundHaveTheKernelsText) {
  records_.add(OpenFileRecord{.number = 1,
                              .device = 13,
                              .inode = 99,
                              .mode = 010600,
                              .origin = MLRUN_ORIGIN_FOUND,
                              .path = string("pipe:[99]")});
  records_.add(
      OpenFileRecord{.number = 2, .inode = 98, .origin = MLRUN_ORIGIN_FOUND, .path = string("/none/gone (deleted)")});
  records_.add(OpenFileRecord{.number = 3,
                              .device = 12,
                              .inode = 97,
                              .mode = 0600,
                              .origin = MLRUN_ORIGIN_FOUND,
                              .path = string("anon_inode:[eventfd]")});
  records_.add(OpenFileRecord{.number = 4, .inode = 96, .path = 0});
  for (uint32_t number = 1; number <= 4; ++number) {
    records_.add(testing::DescriptorCall{.start = next(), .duration = 5, .open_file = number});
  }
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"pipe:[99]", "/none/gone", "anon_inode:[eventfd]", "[8:1:96]"}));
  EXPECT_EQ(folder_.texts("file", "kind"), Texts({"pipe", "regular", "eventfd", "regular"}));
  EXPECT_EQ(folder_.numbers("call", "file_id"), Numbers({1, 2, 3, 4}));
}

TEST_F(Files, NamesThatAreNotUtf8AreEscapedAndKept) {
  const std::string name = "/none/a\xff\xfe\\x41";
  open({.number = 1, .inode = 10, .path = string(name)});
  open({.number = 2, .inode = 11, .path = string("/none/\xc3\xa4")});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"/none/a\\xff\\xfe\\x5cx41", "/none/\xc3\xa4"}));
  EXPECT_EQ(folder_.texts("file", "path_bytes"), Texts({name, ""}));
}

TEST_F(Files, AProgramFoundByPathIsNotInTheWorkingDirectory) {
  const uint64_t cwd = string("/home/me");
  call({.func = events::func::k_execve, .path = string("python"), .flags = MLRUN_CALL_SEARCHED, .cwd = cwd});
  call({.func = events::func::k_execve, .path = string("bin/tool"), .cwd = cwd});
  merge();
  EXPECT_EQ(folder_.texts("file", "path"), Texts({"python", "/home/me/bin/tool"}));
}

TEST_F(Files, AFileOfAnotherThreadsDefinitionIsFoundAcrossBlocks) {
  const uint64_t path = string("/none/shared");
  records_.add(OpenFileRecord{.number = 1, .inode = 10, .path = path});
  spool_.add_data(1, records_);
  while (spool_.bytes().size() < MLRUN_SPOOL_CHUNK_BYTES + (1 << 20)) {
    for (int i = 0; i < 8000; ++i)
      records_.add(testing::DescriptorCall{.start = ticks_at(kMillisecond), .duration = 1, .open_file = 1});
    spool_.add_data(1, records_);
  }
  open({.number = 2, .inode = 10, .path = path});
  merge();
  const Numbers ids = folder_.numbers("call", "file_id");
  EXPECT_GT(ids.size(), 1'000'000u);
  EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](const auto& id) { return id == 1; }));
}

}  // namespace
}  // namespace mlrun
