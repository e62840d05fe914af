// SPDX-License-Identifier: Apache-2.0
// Rules of --place: what is read from their texts, and which contradict themselves.
#include "runner/placement/rule_text.h"

#include <linux/mempolicy.h>

#include <cstring>

#include <gtest/gtest.h>

#include "runner/placement/resolve.h"

namespace mlrun::placement {
namespace {

// The error of a rule; empty: it is good.
std::string error_of(const std::string& text) {
  const auto rule = parse_rule(text);
  return rule ? "" : rule.error().text;
}

// The kernel's policy for the pages of a rule about nodes 0 and 1.
uint32_t policy_in_arena(const std::string& text) {
  Rule rule = parse_rule(text).value();
  rule.nodes = {0, 1};
  const std::string bytes = encoded_rules({rule}).value();
  mlrun_placement head;
  mlrun_place_rule first;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::memcpy(&first, bytes.data() + head.rules_offset, sizeof first);
  return first.policy;
}

TEST(RuleText, StrictIsRefusedWhereTheKernelTakesOtherNodes) {
  EXPECT_NE(error_of("-> interleave 0,1 strict").find("no effect on interleave"), std::string::npos);
  EXPECT_EQ(error_of("-> interleave 0,1"), "");
  for (const char* const bound : {"-> 3:1 node 0,1 strict", "-> node 0,1 strict", "-> hbw strict"})
    EXPECT_EQ(policy_in_arena(bound), uint32_t{MPOL_BIND}) << bound;
}

TEST(RuleText, ALowerLimitBelowAPageIsAnErrorAlsoIfItIsZero) {
  for (const char* const low : {"size >= 0", "size >= 1", "size > 0", "size 0..2M", "mmap size >= 0"})
    EXPECT_NE(error_of(std::string(low) + " -> default").find("size >= 4096"), std::string::npos) << low;
  EXPECT_EQ(parse_rule("size < 2M -> default")->min_bytes, 64u << 10);
  EXPECT_EQ(parse_rule("size >= 4K -> default")->min_bytes, 4096u);
  EXPECT_EQ(parse_rule("-> default")->min_bytes, 64u << 10);
}

TEST(RuleText, AFileThatCannotBeCreatedIsReportedBeforeTheStart) {
  const auto error = [](const std::string& pmem, uint64_t file_bytes_max) {
    const auto rules = find_rules({{"-> pmem", "-> pmem"}, {}, pmem, file_bytes_max});
    return rules ? "" : rules.error().text;
  };
  const std::string folder = testing::TempDir();
  EXPECT_NE(error(folder, (uint64_t{1} << 40) - 1).find("(ulimit -f) are too small"), std::string::npos);
  EXPECT_EQ(error(folder, uint64_t{1} << 40).find("ulimit"), std::string::npos);
  EXPECT_NE(error(folder + ":1K", UINT64_MAX).find("a size below 4096 bytes places nothing"), std::string::npos);
  EXPECT_NE(error(folder + ":0", UINT64_MAX).find("a size below 4096 bytes places nothing"), std::string::npos);
}

}  // namespace
}  // namespace mlrun::placement
