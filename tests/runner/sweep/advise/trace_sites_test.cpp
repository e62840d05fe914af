// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/trace_sites.h"

#include <unistd.h>

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "runner/parquet/row_columns.h"

namespace mlrun::sweep {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kBytes = 1 << 20, kAddress = 0x7f0000000000;

struct FrameRow {
  int64_t frame_id = 0;
  std::string function, build_id = "0123456789abcdef", library = "program";
};
struct FrameColumns {
  static constexpr const char* kTable = "frame";
  static void visit(auto& visitor, const FrameRow& row) {
    visitor("frame_id", row.frame_id);
    visitor("function", row.function);
    visitor("library", row.library);
    visitor("offset", row.frame_id);
    visitor("build_id", row.build_id);
  }
};

struct StackRow {
  int64_t stack_id = 0, depth = 0, frame_id = 0;
  std::string ending;
};
struct StackColumns {
  static constexpr const char* kTable = "stack";
  static void visit(auto& visitor, const StackRow& row) {
    visitor("stack_id", row.stack_id);
    visitor("depth", row.depth);
    visitor("frame_id", row.frame_id);
    visitor("ending", row.ending);
  }
};

struct AllocRow {
  int64_t ts = 0, dur = 0;
  std::string op;
  int64_t address = 0, size = 0, old_address = 0, stack_id = 0;
};
struct AllocColumns {
  static constexpr const char* kTable = "alloc";
  static void visit(auto& visitor, const AllocRow& row) {
    visitor("ts", row.ts);
    visitor("dur", row.dur);
    visitor("proc_id", int64_t{1});
    visitor("op", row.op);
    visitor("addr", row.address);
    visitor("size", row.size);
    visitor.optional("old_addr", row.old_address, 0);
    visitor.optional("stack_id", row.stack_id, 0);
  }
};

struct SiteRow {
  std::string rung;
  int64_t stack_id = 0, seen_byte_s = 0;
  std::optional<int64_t> hot_ppm;
};
struct SiteColumns {
  static constexpr const char* kTable = "access_site";
  static void visit(auto& visitor, const SiteRow& row) {
    visitor("rung", row.rung);
    visitor("stack_id", row.stack_id);
    visitor("seen_byte_s", row.seen_byte_s);
    visitor.optional("hot_ppm", row.hot_ppm);
    visitor("loads", int64_t{0});
    visitor("stores", int64_t{0});
    visitor.optional("latency", int64_t{0}, 0);
  }
};

class SitesOfATrace : public ::testing::Test {
 protected:
  SitesOfATrace() : folder_(::testing::TempDir() + "trace_sites_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    have_stacks({{1, "first"}, {2, "second"}}, {{1, 0, 1, "root"}, {2, 0, 2, "root"}});
  }
  ~SitesOfATrace() override { std::filesystem::remove_all(folder_); }

  void have_stacks(const std::vector<FrameRow>& frames, const std::vector<StackRow>& stacks) {
    EXPECT_TRUE(tables::write_rows<FrameColumns>(frames, folder_));
    EXPECT_TRUE(tables::write_rows<StackColumns>(stacks, folder_));
  }

  TraceSites sites(const std::vector<AllocRow>& allocs, const std::vector<SiteRow>& accesses = {}) {
    EXPECT_TRUE(tables::write_rows<AllocColumns>(allocs, folder_));
    EXPECT_TRUE(tables::write_rows<SiteColumns>(accesses, folder_));
    const auto read = read_sites(folder_, 4096, 0);
    EXPECT_TRUE(read);
    return read.value_or(TraceSites());
  }

 private:
  std::string folder_;
};

const std::vector<AllocRow> kTwoBlocks = {
    {1 * kSecond, 0, "malloc", kAddress, 4 * kBytes, 0, 1},
    {1 * kSecond, 0, "malloc", kAddress + 8 * kBytes, kBytes, 0, 2},
    {9 * kSecond, 0, "free", kAddress, 4 * kBytes, 0, 0},
    {9 * kSecond, 0, "free", kAddress + 8 * kBytes, kBytes, 0, 0},
};

TEST_F(SitesOfATrace, HintFaultsThatFoundNothingDoNotHideWhatOtherRungsFound) {
  const int64_t byte_s = 8 * kBytes;
  const TraceSites found = sites(kTwoBlocks, {{"hint-faults", 1, 4 * byte_s, 0},
                                              {"hint-faults", 2, byte_s, 0},
                                              {"cold", 1, 4 * byte_s, 0},
                                              {"cold", 2, byte_s, 1'000'000}});
  EXPECT_EQ(found.ranked_by, "hot bytes x time, by --access=cold");
  ASSERT_EQ(found.sites.size(), 2u);
  EXPECT_EQ(found.sites[0].label, "second");
  EXPECT_EQ(found.sites[1].weight, 0);
  EXPECT_EQ(found.unseen, 0u);
}

TEST_F(SitesOfATrace, ASiteWithoutAHintFaultIsAsHotAsTheOthers) {
  const TraceSites found = sites(kTwoBlocks, {{"hint-faults", 1, 0, {}}, {"hint-faults", 2, 8 * kBytes, 500'000}});
  EXPECT_EQ(found.ranked_by, "hot bytes x time, by --access=hint-faults");
  ASSERT_EQ(found.sites.size(), 2u);
  EXPECT_EQ(found.sites[0].label, "first");
  EXPECT_EQ(found.sites[0].weight, 4 * 8 * kBytes * 0.5);
  EXPECT_EQ(found.unseen, 1u);
}

TEST_F(SitesOfATrace, ABlockThatAnotherThreadGetsWhileReallocMovesTheOldOneAwayStays) {
  const TraceSites found = sites({{1 * kSecond, 0, "malloc", kAddress, kBytes, 0, 1},
                                  {2 * kSecond, 2 * kSecond, "realloc", kAddress + 4 * kBytes, kBytes, kAddress, 1},
                                  {3 * kSecond, 0, "malloc", kAddress, kBytes, 0, 2},
                                  {9 * kSecond, 0, "free", kAddress, kBytes, 0, 0},
                                  {9 * kSecond, 0, "free", kAddress + 4 * kBytes, kBytes, 0, 0}});
  ASSERT_EQ(found.sites.size(), 2u);
  EXPECT_EQ(found.sites[0].byte_seconds, (2 + 5) * kBytes);  // until the other block was there; the moved one
  EXPECT_EQ(found.sites[1].byte_seconds, 6 * kBytes);
}

// A block of each stack, one after the other.
std::vector<AllocRow> one_block_each(int64_t stacks) {
  std::vector<AllocRow> rows;
  for (int64_t stack = 1; stack <= stacks; stack++) {
    rows.push_back({2 * stack * kSecond, 0, "malloc", kAddress, stack * kBytes, 0, stack});
    rows.push_back({(2 * stack + 1) * kSecond, 0, "free", kAddress, stack * kBytes, 0, 0});
  }
  return rows;
}

// Stacks by their frames; the outermost has the ending "root", unless another is given.
std::vector<StackRow> stacks_of(const std::vector<std::vector<int64_t>>& frames,
                                const std::vector<std::string>& endings = {}) {
  std::vector<StackRow> rows;
  for (size_t stack = 0; stack < frames.size(); stack++) {
    for (size_t depth = 0; depth < frames[stack].size(); depth++)
      rows.push_back({static_cast<int64_t>(stack) + 1, static_cast<int64_t>(depth), frames[stack][depth], ""});
    rows.back().ending = stack < endings.size() ? endings[stack] : "root";
  }
  return rows;
}

const std::vector<FrameRow> kWithAnUnknownOne = {{1, "allocate"}, {2, "first"}, {3, "second"}, {4, "", "", "plain.so"}};

TEST_F(SitesOfATrace, ASignatureCutAtCodeWithoutABuildIdDoesNotSwallowOtherSites) {
  have_stacks(kWithAnUnknownOne, stacks_of({{1, 2}, {1, 3}, {1, 4, 2}}));
  const TraceSites found = sites(one_block_each(3));
  ASSERT_EQ(found.sites.size(), 2u);
  EXPECT_EQ(found.sites[0].label, "allocate < second");
  EXPECT_EQ(found.sites[1].label, "allocate < first");
  EXPECT_EQ(found.cut, 1u);
  EXPECT_EQ(found.cut_bytes, static_cast<uint64_t>(3 * kBytes));
  EXPECT_EQ(found.elsewhere.byte_seconds, 3 * kBytes);
  EXPECT_EQ(found.elsewhere.lives.size(), 1u);
  EXPECT_EQ(found.without_build_id, 0u);
}

TEST_F(SitesOfATrace, AnIncompleteStackDoesNotSwallowOtherSites) {
  have_stacks(kWithAnUnknownOne, stacks_of({{1, 2}, {1}}, {"root", "loading"}));
  const TraceSites found = sites(one_block_each(2));
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.sites[0].byte_seconds, kBytes);
  EXPECT_EQ(found.cut, 1u);
}

TEST_F(SitesOfATrace, ACutSignatureWithWhichNoOtherBeginsIsASite) {
  have_stacks(kWithAnUnknownOne, stacks_of({{2, 4}, {2, 4, 1}, {1, 3}}));
  const TraceSites found = sites(one_block_each(3));
  ASSERT_EQ(found.sites.size(), 2u);
  EXPECT_EQ(found.sites[0].byte_seconds, 3 * kBytes);
  EXPECT_EQ(found.sites[1].byte_seconds, 3 * kBytes) << "both stacks have the same signature";
  EXPECT_EQ(found.cut, 0u);
}

TEST_F(SitesOfATrace, AWholeSignatureHasTheBlocksOfThoseThatBeginWithIt) {
  have_stacks(kWithAnUnknownOne, stacks_of({{1}, {1, 2, 4}, {1, 2, 3}}));
  const TraceSites found = sites(one_block_each(3));
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.sites[0].byte_seconds, 6 * kBytes);
  EXPECT_EQ(found.cut, 0u) << "its rule matches the cut one, too";
}

TEST_F(SitesOfATrace, CodeWithoutABuildIdIsNamed) {
  have_stacks(kWithAnUnknownOne, stacks_of({{4, 1}}));
  const TraceSites found = sites(one_block_each(1));
  EXPECT_TRUE(found.sites.empty());
  EXPECT_EQ(found.without_build_id, 1u);
  EXPECT_EQ(found.file_without_build_id, "plain.so");
}

}  // namespace
}  // namespace mlrun::sweep
