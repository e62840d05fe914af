// SPDX-License-Identifier: Apache-2.0
// Tests which files of an interrupted merge are reused: those that match the journal exactly, with the same source.
#include "runner/trace/merge/kept_files.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun {
namespace {

namespace fs = std::filesystem;
using trace::KeptFiles;
using trace::table_file_path;

const std::vector<std::string> kTables = {"call", "alloc"};
const std::string kMade = KeptFiles::made_of("/nowhere", {"/proc/version"}, 1000);

class KeptFilesTest : public ::testing::Test {
 protected:
  KeptFilesTest() {
    std::string path = fs::temp_directory_path() / "mlrun-kept-XXXXXX";
    folder_ = ::mkdtemp(path.data());
  }
  ~KeptFilesTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string staging() const { return folder_ + "/merging"; }
  [[nodiscard]] std::string table_file(const std::string& table, size_t number) const {
    return table_file_path(staging() + "/tables", table, number);
  }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  // The files of a merge that wrote slices 0 to 3 (3 has only calls), journaled the first three, and was killed in the
  // next.
  void leave_files() {
    KeptFiles kept(staging(), kTables);
    ASSERT_TRUE(kept.open(kMade));
    EXPECT_EQ(kept.count(), 0u);
    for (const size_t number : {0, 1, 2, 3}) {
      write(table_file("call", number), "calls of " + std::to_string(number));
      if (number != 2) write(table_file("alloc", number), "allocations of " + std::to_string(number));
      if (number != 3) kept.add(number);
    }
    write(table_file("call", 4) + ".partial", "half");
    fs::create_directories(staging() + "/tables/block");
    write(staging() + "/tables/block/part-00000.parquet", "of the kernel side");
  }
  // The slices that a merge finds.
  [[nodiscard]] std::vector<size_t> taken_up(const std::string& made_of = kMade) const {
    KeptFiles kept(staging(), kTables);
    const auto opened = kept.open(made_of);
    EXPECT_TRUE(opened) << opened.error().text;
    std::vector<size_t> found;
    for (size_t number = 0; number < 10; ++number) {
      if (kept.has(number)) found.push_back(number);
    }
    EXPECT_EQ(kept.count(), found.size());
    return found;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(staging())) {
      if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), staging() + "/tables"));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string folder_;
};

using Slices = std::vector<size_t>;
using Files = std::vector<std::string>;

TEST_F(KeptFilesTest, AreTheJournaledOnesAndNothingElseIsLeft) {
  leave_files();
  EXPECT_EQ(taken_up(), Slices({0, 1, 2}));
  EXPECT_EQ(files(), Files({"../files.jsonl", "alloc/part-00000.parquet", "alloc/part-00001.parquet",
                            "call/part-00000.parquet", "call/part-00001.parquet", "call/part-00002.parquet"}));
  EXPECT_FALSE(fs::exists(staging() + "/tables/block"));
}

TEST_F(KeptFilesTest, AreTakenUpAgainWithThoseOfTheSecondMerge) {
  leave_files();
  {
    KeptFiles kept(staging(), kTables);
    ASSERT_TRUE(kept.open(kMade));
    write(table_file("call", 7), "calls of 7");
    kept.add(7);
  }
  EXPECT_EQ(taken_up(), Slices({0, 1, 2, 7}));
}

TEST_F(KeptFilesTest, WithOtherBytesAreWrittenAgain) {
  leave_files();
  write(table_file("alloc", 1), "allocations 0f 1");  // as long as it was
  EXPECT_EQ(taken_up(), Slices({0, 2}));
  EXPECT_FALSE(fs::exists(table_file("call", 1)));
}

TEST_F(KeptFilesTest, WithAMissingOrAnExtraFileAreWrittenAgain) {
  leave_files();
  fs::remove(table_file("call", 0));
  write(table_file("alloc", 2), "unknown");
  EXPECT_EQ(taken_up(), Slices({1}));
  EXPECT_EQ(files(), Files({"../files.jsonl", "alloc/part-00001.parquet", "call/part-00001.parquet"}));
}

TEST_F(KeptFilesTest, ThatAreLinksAreWrittenAgain) {
  leave_files();
  fs::rename(table_file("call", 1), folder_ + "/elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", table_file("call", 1));
  EXPECT_EQ(taken_up(), Slices({0, 2}));
  EXPECT_TRUE(fs::exists(folder_ + "/elsewhere"));
}

TEST_F(KeptFilesTest, MadeOfSomethingElseAreNotTakenUp) {
  leave_files();
  EXPECT_EQ(taken_up(KeptFiles::made_of("/nowhere", {"/proc/version"}, 2000)), Slices());
  EXPECT_EQ(files(), Files({"../files.jsonl"}));
  EXPECT_EQ(taken_up(), Slices());
}

TEST_F(KeptFilesTest, AreFoundUpToWhereTheJournalIsTorn) {
  leave_files();
  const std::string journal = staging() + "/files.jsonl";
  fs::resize_file(journal, fs::file_size(journal) - 4);
  EXPECT_EQ(taken_up(), Slices({0, 1}));
  std::ofstream(journal, std::ios::app) << std::string(5000, '\0') << "[1]\n{\"slice\": -1}\n{\"slice\": {}}\n";
  EXPECT_EQ(taken_up(), Slices({0, 1}));
}

TEST_F(KeptFilesTest, AJournalLineWithoutItsFilesIsNotReused) {
  leave_files();
  std::ofstream(staging() + "/files.jsonl", std::ios::app) << "{\"files\":{},\"slice\":9}\n";
  EXPECT_EQ(taken_up(), Slices({0, 1, 2}));
}

TEST_F(KeptFilesTest, AreReusedOnlyIfTheirSourcesKeepSizeAndTime) {
  const std::string spool = folder_ + "/spool.bin", none = folder_ + "/none";
  write(spool, "one");
  const auto made = [&] { return KeptFiles::made_of(folder_, {none}, 1000); };
  const std::string before = made();
  EXPECT_EQ(made(), before);
  EXPECT_EQ(before.find('\n'), std::string::npos);
  write(none, "");
  EXPECT_NE(made(), before);
  fs::remove(none);
  const auto time = fs::last_write_time(spool);
  fs::last_write_time(spool, time + std::chrono::microseconds(1));
  EXPECT_NE(made(), before);
  fs::last_write_time(spool, time);
  EXPECT_EQ(made(), before);
  write(spool, "more");
  fs::last_write_time(spool, time);
  EXPECT_NE(made(), before);
}

TEST_F(KeptFilesTest, AreReusedOnlyIfIdsOfFilesAreTheSame) {
  const auto with_file = [](const char* path) {
    model::TraceInfo info;
    model::FileRow file;
    file.path = path;
    file.dev = 1;
    file.ino = 2;
    info.files.push_back(file);
    return info;
  };
  model::TraceInfo info = with_file("/data/a");
  const std::string before = KeptFiles::made_of(kMade, info);
  EXPECT_EQ(KeptFiles::made_of(kMade, info), before);
  EXPECT_NE(KeptFiles::made_of(kMade, with_file("/data/b")), before);
  info.names.push_back({1, "libm.so"});
  EXPECT_NE(KeptFiles::made_of(kMade, info), before);
  EXPECT_EQ(KeptFiles::made_of("", info), "");
}

TEST_F(KeptFilesTest, AreNeitherReusedNorJournaledIfTheirSourceIsUnknown) {
  leave_files();
  EXPECT_EQ(taken_up(""), Slices());
  EXPECT_EQ(files(), Files());
}

TEST_F(KeptFilesTest, BehindLinksAreWrittenAgain) {
  leave_files();
  fs::rename(staging() + "/tables/call", folder_ + "/elsewhere");
  fs::create_directory_symlink(folder_ + "/elsewhere", staging() + "/tables/call");
  EXPECT_EQ(taken_up(), Slices());
  EXPECT_TRUE(fs::exists(folder_ + "/elsewhere/part-00000.parquet"));
}

TEST_F(KeptFilesTest, FailWithOneLineWhereNoFolderCanBe) {
  write(staging(), "");
  EXPECT_EQ(taken_up(), Slices());  // a file in the way was not written by a merge
  KeptFiles kept("/proc/merging", kTables);
  const auto opened = kept.open(kMade);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text.find("/proc/merging"), std::string::npos) << opened.error().text;
}

}  // namespace
}  // namespace mlrun
