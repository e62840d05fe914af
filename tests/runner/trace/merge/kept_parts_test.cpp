// SPDX-License-Identifier: Apache-2.0
// Tests which parts of an interrupted merge are reused: those that match the journal exactly, with the same source.
#include "runner/trace/merge/kept_parts.h"

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
using trace::KeptParts;
using trace::part_path;

const std::vector<std::string> kTables = {"call", "alloc"};
const std::string kMade = KeptParts::made_of("/nowhere", {"/proc/version"}, 1000);

class KeptPartsTest : public ::testing::Test {
 protected:
  KeptPartsTest() {
    std::string path = fs::temp_directory_path() / "mlrun-kept-XXXXXX";
    folder_ = ::mkdtemp(path.data());
  }
  ~KeptPartsTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string staging() const { return folder_ + "/merging"; }
  [[nodiscard]] std::string part(const std::string& table, size_t number) const {
    return part_path(staging() + "/tables", table, number);
  }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  // The files of a merge that wrote parts 0 to 3 (3 has only calls), journaled the first three, and was killed in the
  // next.
  void leave_parts() {
    KeptParts parts(staging(), kTables);
    ASSERT_TRUE(parts.open(kMade));
    EXPECT_EQ(parts.count(), 0u);
    for (const size_t number : {0, 1, 2, 3}) {
      write(part("call", number), "calls of " + std::to_string(number));
      if (number != 2) write(part("alloc", number), "allocations of " + std::to_string(number));
      if (number != 3) parts.add(number);
    }
    write(part("call", 4) + ".partial", "half");
    fs::create_directories(staging() + "/tables/block");
    write(staging() + "/tables/block/part-00000.parquet", "of the kernel side");
  }
  // The parts that a merge finds.
  [[nodiscard]] std::vector<size_t> taken_up(const std::string& made_of = kMade) const {
    KeptParts parts(staging(), kTables);
    const auto opened = parts.open(made_of);
    EXPECT_TRUE(opened) << opened.error().text;
    std::vector<size_t> found;
    for (size_t number = 0; number < 10; ++number) {
      if (parts.has(number)) found.push_back(number);
    }
    EXPECT_EQ(parts.count(), found.size());
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

using Parts = std::vector<size_t>;
using Files = std::vector<std::string>;

TEST_F(KeptPartsTest, AreTheJournaledOnesAndNothingElseIsLeft) {
  leave_parts();
  EXPECT_EQ(taken_up(), Parts({0, 1, 2}));
  EXPECT_EQ(files(), Files({"../parts.jsonl", "alloc/part-00000.parquet", "alloc/part-00001.parquet",
                            "call/part-00000.parquet", "call/part-00001.parquet", "call/part-00002.parquet"}));
  EXPECT_FALSE(fs::exists(staging() + "/tables/block"));
}

TEST_F(KeptPartsTest, AreTakenUpAgainWithThoseOfTheSecondMerge) {
  leave_parts();
  {
    KeptParts parts(staging(), kTables);
    ASSERT_TRUE(parts.open(kMade));
    write(part("call", 7), "calls of 7");
    parts.add(7);
  }
  EXPECT_EQ(taken_up(), Parts({0, 1, 2, 7}));
}

TEST_F(KeptPartsTest, WithOtherBytesAreWrittenAgain) {
  leave_parts();
  write(part("alloc", 1), "allocations 0f 1");  // as long as it was
  EXPECT_EQ(taken_up(), Parts({0, 2}));
  EXPECT_FALSE(fs::exists(part("call", 1)));
}

TEST_F(KeptPartsTest, WithAMissingOrAnExtraFileAreWrittenAgain) {
  leave_parts();
  fs::remove(part("call", 0));
  write(part("alloc", 2), "unknown");
  EXPECT_EQ(taken_up(), Parts({1}));
  EXPECT_EQ(files(), Files({"../parts.jsonl", "alloc/part-00001.parquet", "call/part-00001.parquet"}));
}

TEST_F(KeptPartsTest, ThatAreLinksAreWrittenAgain) {
  leave_parts();
  fs::rename(part("call", 1), folder_ + "/elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", part("call", 1));
  EXPECT_EQ(taken_up(), Parts({0, 2}));
  EXPECT_TRUE(fs::exists(folder_ + "/elsewhere"));
}

TEST_F(KeptPartsTest, MadeOfSomethingElseAreNotTakenUp) {
  leave_parts();
  EXPECT_EQ(taken_up(KeptParts::made_of("/nowhere", {"/proc/version"}, 2000)), Parts());
  EXPECT_EQ(files(), Files({"../parts.jsonl"}));
  EXPECT_EQ(taken_up(), Parts());
}

TEST_F(KeptPartsTest, AreFoundUpToWhereTheJournalIsTorn) {
  leave_parts();
  const std::string journal = staging() + "/parts.jsonl";
  fs::resize_file(journal, fs::file_size(journal) - 4);
  EXPECT_EQ(taken_up(), Parts({0, 1}));
  std::ofstream(journal, std::ios::app) << std::string(5000, '\0') << "[1]\n{\"part\": -1}\n{\"part\": {}}\n";
  EXPECT_EQ(taken_up(), Parts({0, 1}));
}

TEST_F(KeptPartsTest, ThatAJournalInventsAreNotTakenUp) {
  leave_parts();
  std::ofstream(staging() + "/parts.jsonl", std::ios::app) << "{\"files\":{},\"part\":9}\n";
  EXPECT_EQ(taken_up(), Parts({0, 1, 2}));
}

TEST_F(KeptPartsTest, AreReusedOnlyIfTheirSourcesKeepSizeAndTime) {
  const std::string spool = folder_ + "/spool.bin", none = folder_ + "/none";
  write(spool, "one");
  const auto made = [&] { return KeptParts::made_of(folder_, {none}, 1000); };
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

TEST_F(KeptPartsTest, AreReusedOnlyIfIdsOfFilesAreTheSame) {
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
  const std::string before = KeptParts::made_of(kMade, info);
  EXPECT_EQ(KeptParts::made_of(kMade, info), before);
  EXPECT_NE(KeptParts::made_of(kMade, with_file("/data/b")), before);
  info.names.push_back({1, "libm.so"});
  EXPECT_NE(KeptParts::made_of(kMade, info), before);
  EXPECT_EQ(KeptParts::made_of("", info), "");
}

TEST_F(KeptPartsTest, AreNeitherReusedNorJournaledIfTheirSourceIsUnknown) {
  leave_parts();
  EXPECT_EQ(taken_up(""), Parts());
  EXPECT_EQ(files(), Files());
}

TEST_F(KeptPartsTest, BehindLinksAreWrittenAgain) {
  leave_parts();
  fs::rename(staging() + "/tables/call", folder_ + "/elsewhere");
  fs::create_directory_symlink(folder_ + "/elsewhere", staging() + "/tables/call");
  EXPECT_EQ(taken_up(), Parts());
  EXPECT_TRUE(fs::exists(folder_ + "/elsewhere/part-00000.parquet"));
}

TEST_F(KeptPartsTest, FailWithOneLineWhereNoFolderCanBe) {
  write(staging(), "");
  EXPECT_EQ(taken_up(), Parts());  // a file in the way was not written by a merge
  KeptParts parts("/proc/merging", kTables);
  const auto opened = parts.open(kMade);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text.find("/proc/merging"), std::string::npos) << opened.error().text;
}

}  // namespace
}  // namespace mlrun
