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

}  // namespace
}  // namespace mlrun::placement
