// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/apart.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/placement/resolve.h"
#include "runner/placement/rule_file.h"
#include "runner/sweep/advise/advice.h"

namespace mlrun::sweep {
namespace {

constexpr uint64_t kMin = 64 << 10;

Site site_of(const std::string& label, double byte_seconds, double weight) {
  Site site;
  site.signature = fmt::format("0123456789abcdef+{:x},1123456789abcdef+20", static_cast<int>(byte_seconds));
  site.label = label + " < main";
  site.frames = {{site.signature.substr(0, site.signature.find(',')), label, "/nowhere/program"},
                 {"1123456789abcdef+20", "main", "/nowhere/library.so"}};
  site.byte_seconds = byte_seconds;
  site.weight = weight;
  return site;
}

// The sites of a trace by how hot they are, as read_sites() ranks them.
TraceSites trace_of_three_sites() {
  TraceSites found;
  found.sites = {site_of("hot", 100, 3), site_of("largest", 500, 2), site_of("large", 300, 1)};
  found.elsewhere.byte_seconds = 100;
  return found;
}

class ApartFile : public ::testing::Test {
 protected:
  ~ApartFile() override { std::filesystem::remove(path_); }
  const std::string& written(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

 private:
  std::string path_ = ::testing::TempDir() + "apart_" + std::to_string(::getpid());
};

TEST(LargestSites, AreRankedByBytesAndTimeAlsoInATraceWithAccesses) {
  const ApartSites apart = largest_sites("trace", kMin, trace_of_three_sites(), 2);
  EXPECT_EQ(apart.labels, (std::vector<std::string>{"largest < main", "large < main"}));
  EXPECT_DOUBLE_EQ(apart.share, 0.8) << "also of the blocks without a site";
  EXPECT_EQ(largest_sites("trace", kMin, trace_of_three_sites(), 16).labels.size(), 3u);
}

TEST_F(ApartFile, HasARuleForEachSite) {
  const ApartSites apart = largest_sites("trace", kMin, trace_of_three_sites(), 16);
  const auto rules = placement::read_rule_file(written(apart_text(apart)));
  ASSERT_TRUE(rules) << rules.error().text;
  ASSERT_EQ(rules->size(), 3u);
  for (size_t i = 0; i < rules->size(); i++) {
    const placement::Rule& rule = (*rules)[i];
    EXPECT_EQ(rule.target, placement::Target::kDefault);
    EXPECT_EQ(rule.min_bytes, kMin);
    EXPECT_EQ(rule.site, MLRUN_PLACE_SIGNATURE);
    EXPECT_EQ(rule.site_text, apart.signatures[i]) << "in the order of the sites";
  }
  EXPECT_NE(rules->front().remark.find("/nowhere/program"), std::string::npos) << "another build is noticed";
}

TEST_F(ApartFile, NamesTheOptionsWithoutWhichASiteIsOperatorNew) {
  const std::string text = apart_text(largest_sites("trace", kMin, trace_of_three_sites(), 16));
  EXPECT_NE(text.find("mlrun --place FILE --access=cold --stacks=16 --alloc-min=65536 COMMAND\n"), std::string::npos)
      << text;
}

TEST_F(ApartFile, IsReadAsItWasWritten) {
  const ApartSites apart = largest_sites("trace", kMin, trace_of_three_sites(), 16);
  const auto again = read_apart(written(apart_text(apart)));
  ASSERT_TRUE(again) << again.error().text;
  ASSERT_TRUE(*again);
  EXPECT_EQ((*again)->signatures, apart.signatures);
  EXPECT_EQ((*again)->labels, apart.labels);
  EXPECT_EQ((*again)->frames.size(), apart.frames.size());
  EXPECT_EQ(apart_text(**again), apart_text(apart));
}

TEST_F(ApartFile, IsNoAdvice) {
  const auto advice = read_advice(written(apart_text(largest_sites("trace", kMin, trace_of_three_sites(), 16))));
  ASSERT_FALSE(advice);
  EXPECT_NE(advice.error().text.find("leave out --try"), std::string::npos) << advice.error().text;
}

TEST_F(ApartFile, AFileWithChosenSitesIsAnother) {
  Advice advice;
  advice.add(site_of("chosen", 1, 1));
  advice.slow = advice.fast = "default";
  const auto apart = read_apart(written(advice_text(advice)));
  ASSERT_TRUE(apart) << apart.error().text;
  EXPECT_FALSE(*apart);
  EXPECT_FALSE(read_apart(written("[[rule]\n"))) << "it is not TOML";
}

TEST_F(ApartFile, TheMostSitesWithTheLongestSignaturesFitIntoTheArena) {
  ApartSites apart;
  apart.min_bytes = kMin;
  for (int i = 0; i < MLRUN_PLACE_RULES; i++) {
    std::string signature;
    for (int frame = 0; frame < MLRUN_PLACE_FRAMES; frame++)
      signature += fmt::format("{}0123456789abcdef+{:x}-{:x}", frame == 0 ? "" : ",", 0x10000000 + i, 0x10000100 + i);
    apart.signatures.push_back(signature);
    apart.labels.emplace_back("site");
  }
  const auto rules = placement::read_rule_file(written(apart_text(apart)));
  ASSERT_TRUE(rules) << rules.error().text;
  const auto bytes = placement::encoded_rules(*rules);
  ASSERT_TRUE(bytes) << bytes.error().text;
  mlrun_placement head{};
  std::memcpy(&head, bytes->data(), sizeof head);
  EXPECT_GE(head.slots_count, 20u) << "processes that can be counted";
}

TEST(AlikeSites, TwoCallsOfOneFunctionShareARuleAndALongerSignatureGoesFirst) {
  ApartSites apart;
  apart.signatures = {"a+1-9", "b+1-9", "a+1-9", "a+1-9,a+20-29", "a+1-9,a+20-29,b+1-9", "a+1-99"};
  apart.labels = {"cut", "other", "second call", "long", "longest", "another function"};
  EXPECT_EQ(sort_out_alike(apart), (std::vector<std::string>{"second call"}));
  EXPECT_EQ(apart.signatures,
            (std::vector<std::string>{"a+1-9,a+20-29,b+1-9", "a+1-9,a+20-29", "a+1-9", "b+1-9", "a+1-99"}));
  EXPECT_EQ(apart.labels, (std::vector<std::string>{"longest", "long", "cut", "other", "another function"}));
}

TEST(ApartSummary, NamesTheSitesAndTheNextCommand) {
  const ApartSites apart = largest_sites("trace", kMin, trace_of_three_sites(), 1);
  EXPECT_EQ(
      apart_summary_text(apart, trace_of_three_sites(), "/a b/apart.toml"),
      "1 of 3 call sites have a rule each; they have 50.0 % of the bytes x time of all blocks of 64.0 KiB and more\n"
      "  largest < main\n"
      "next: mlrun --place '/a b/apart.toml' --access=cold --stacks=16 --alloc-min=65536 COMMAND\n");
}

}  // namespace
}  // namespace mlrun::sweep
