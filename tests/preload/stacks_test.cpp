// SPDX-License-Identifier: Apache-2.0
// Compares stacks of allocations with the victim's own: glibc's backtrace(), or its frame pointers.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

constexpr uint32_t kDepth = 64;
constexpr uint64_t kFirstBytes = 10000, kTags = 1000;

using Frames = std::vector<uint64_t>;

struct Recorded {
  Frames frames;
  uint32_t end = 0;
};

// Runs a victim and puts its stacks together from the records.
class StackRun {
 public:
  explicit StackRun(const std::vector<std::string>& command, uint32_t depth = kDepth) {
    RunOptions options{.arena = {.stack_depth = depth}};
    options.on_record = [this](const RecordView& record) { look_at(record); };
    totals_ = run_traced(command, options);
    EXPECT_EQ(totals_.exit_code(), 0) << totals_.output;
    EXPECT_EQ(totals_.torn, 0);
    EXPECT_EQ(totals_.broken, 0);
    EXPECT_EQ(totals_.failures[MLRUN_FAIL_NO_STACKS], 0);
  }

  // By the tag of the block.
  [[nodiscard]] std::map<uint64_t, Recorded> recorded() const {
    std::map<uint64_t, Recorded> found;
    for (const auto& [tag, id] : ids_) {
      const auto definition = stacks_.find(id);
      if (definition == stacks_.end()) continue;
      Recorded& stack = found[tag];
      stack.end = definition->second.end;
      for (const uint64_t word : definition->second.frames) stack.frames.push_back(address_of(word));
    }
    return found;
  }

  // What the victim printed.
  [[nodiscard]] std::map<uint64_t, Frames> truth() const {
    std::map<uint64_t, Frames> stacks;
    std::istringstream lines(totals_.output);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      uint64_t tag = 0;
      if (!(words >> word >> tag) || word != "stack") continue;
      while (words >> word) stacks[tag].push_back(std::stoull(word, nullptr, 16));
    }
    return stacks;
  }

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const std::set<std::string>& libraries() const { return libraries_; }

 private:
  void look_at(const RecordView& record) {
    const uint64_t* w = record.words;
    if (record.kind() == MLRUN_MODULE) bias_[record.arg()] = w[4] >> 8;
    if (record.kind() == MLRUN_STRING) libraries_.insert(fragment_text(record));
    if (record.kind() == MLRUN_STACK) {
      Recorded& stack = stacks_[w[1]];
      stack.frames.clear();
      stack.end = record.arg() >> 8 & 0xff;
      for (uint32_t i = 0; i < (record.arg() & 0xff); i++) stack.frames.push_back(i % 2 ? w[2 + i] : w[2 + i] >> 8);
    }
    if (record.kind() != MLRUN_MALLOC) return;
    const uint64_t size = w[3] & 0xffffffffffff, site = record.arg() | w[3] >> 48 << 32;
    if (size > kFirstBytes && size < kFirstBytes + kTags && site & MLRUN_SITE_IS_STACK)
      ids_[size - kFirstBytes] = site & MLRUN_STACK_ID_MASK;
  }

  [[nodiscard]] uint64_t address_of(uint64_t word) const {
    if (!(word & MLRUN_FRAME_IN_MODULE)) return word & MLRUN_STACK_ID_MASK;
    const auto bias = bias_.find(word >> 32 & MLRUN_FRAME_MODULE_MAX);
    return bias == bias_.end() ? 0 : bias->second + (word & 0xffffffff);
  }

  Totals totals_;
  std::map<uint64_t, uint64_t> ids_, bias_;
  std::map<uint64_t, Recorded> stacks_;
  std::set<std::string> libraries_;
};

std::string text(const Frames& frames) {
  std::ostringstream out;
  for (const uint64_t frame : frames) out << std::hex << " " << frame;
  return out.str();
}

// The innermost frame is left by two different calls; all others must be the same.
void expect_same(const Frames& recorded, const Frames& truth) {
  ASSERT_GE(truth.size(), 2);
  ASSERT_FALSE(recorded.empty());
  EXPECT_LT(std::max(recorded[0], truth[0]) - std::min(recorded[0], truth[0]), 300) << "both in leaf()";
  EXPECT_EQ(text({recorded.begin() + 1, recorded.end()}), text({truth.begin() + 1, truth.end()}));
}

struct Chain {
  const char* victim;
  const char* name;
  size_t stacks;
  uint32_t end = MLRUN_STACK_ROOT;
};

class EveryChain : public testing::TestWithParam<Chain> {};

TEST_P(EveryChain, IsWhatTheProgramSees) {
  const StackRun run({victim(GetParam().victim), GetParam().name});
  const auto recorded = run.recorded();
  const auto truth = run.truth();
  ASSERT_EQ(truth.size(), GetParam().stacks);
  for (const auto& [tag, frames] : truth) {
    ASSERT_TRUE(recorded.contains(tag));
    expect_same(recorded.at(tag).frames, frames);
    EXPECT_EQ(recorded.at(tag).end, GetParam().end);
  }
}

std::string name_of(const testing::TestParamInfo<Chain>& info) {
  return std::string(info.param.victim) + "_" + info.param.name;
}

std::vector<Chain> chains() {
  std::vector<Chain> all;
  for (const char* victim : {"stacks", "stacks_framed"}) {
    for (const char* name :
         {"nested", "callback", "handler", "other_stack_handler", "thread", "variable", "realigned", "library"})
      all.push_back({victim, name, 1});
    all.push_back({victim, "context", 1, MLRUN_STACK_NO_TABLE});  // libc does not describe where it begins
    all.push_back({victim, "exception", 2});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, EveryChain, testing::ValuesIn(chains()), name_of);

TEST(Stacks, WithoutUnwindInformationFollowTheFramePointers) {
  const StackRun run({victim("stacks_bare"), "nested"});
  Frames truth = run.truth()[1], recorded = run.recorded()[1].frames;
  ASSERT_EQ(truth.size(), 3) << "who called leaf, middle and outer";
  ASSERT_GT(recorded.size(), 4);
  EXPECT_EQ(text({recorded.begin() + 1, recorded.begin() + 4}), text(truth));
}

TEST(Stacks, AreCutOffAtTheDepthAskedFor) {
  for (const uint32_t depth : {1u, 16u, 128u}) {
    const StackRun run({victim("stacks"), "deep"}, depth);
    const Recorded stack = run.recorded().at(5);
    EXPECT_EQ(stack.frames.size(), depth);
    EXPECT_EQ(stack.end, MLRUN_STACK_DEPTH);
    Frames truth = run.truth().at(5);
    truth.resize(depth);
    if (depth > 1) expect_same(stack.frames, truth);
  }
}

TEST(Stacks, EndWithoutUnwindInformation) {
  const StackRun run({victim("stacks"), "strange"});
  const auto recorded = run.recorded();
  const std::map<uint64_t, uint32_t> ends = {
      {20, MLRUN_STACK_UNKNOWN_CODE}, {21, MLRUN_STACK_NO_TABLE}, {22, MLRUN_STACK_BROKEN}, {23, MLRUN_STACK_BROKEN}};
  for (const auto& [tag, end] : ends) {
    ASSERT_TRUE(recorded.contains(tag));
    EXPECT_EQ(recorded.at(tag).end, end) << tag;
    EXPECT_EQ(recorded.at(tag).frames.size(), 2) << tag;
    EXPECT_EQ(recorded.at(tag).frames[1], run.truth().at(tag)[1]) << tag;
  }
}

TEST(Stacks, AreNotRecordedUnasked) {
  const StackRun run({victim("stacks"), "nested"}, 0);
  EXPECT_EQ(run.totals().of(MLRUN_STACK), 0);
  EXPECT_TRUE(run.recorded().empty());
}

TEST(Stacks, AreDefinedOnceWhileTheyCanBeRemembered) {
  const StackRun run({victim("counted"), "0", "5000"});
  EXPECT_GE(run.totals().of(MLRUN_MALLOC), 5000);
  EXPECT_LT(run.totals().of(MLRUN_STACK), 40);
}

TEST(Stacks, OfChildrenAreTheirOwn) {
  const StackRun run({victim("forks"), "busy", "4", "500"});
  EXPECT_GT(run.totals().of(MLRUN_STACK), 4);
  EXPECT_GT(run.totals().of(MLRUN_MODULE), 4);
}

}  // namespace
}  // namespace mlrun::preload_test
