// SPDX-License-Identifier: Apache-2.0
// The calls of mbind for any nodes of a rule.
#include <linux/mempolicy.h>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/placement/caught_policies.h"

extern "C" {
#include "preload/placement/policy.h"

// Of confinement.c and sites.c: neither the program nor a child of vfork has a filter. The thread's state is a C struct of at most 256 bytes.
uint32_t confinements = 0;
__thread uint64_t this_thread[32];
}

namespace mlrun::preload_test {
namespace {

using placement::caught_policies, placement::CaughtPolicy;

constexpr long kAt = 1L << 30, kPage = 4096;

char* pages() { return reinterpret_cast<char*>(kAt); }  // NOLINT(performance-no-int-to-ptr): no memory is touched

CaughtPolicy on_nodes(const std::vector<uint32_t>& nodes, long first, long count) {
  return {MPOL_BIND, nodes, kAt + first * kPage, count * kPage, 0};
}

mlrun_place_rule by_ratio(uint32_t first_node, uint32_t first_share, uint32_t second_node, uint32_t second_share) {
  mlrun_place_rule rule{};
  rule.policy = MPOL_BIND;
  rule.flags = MLRUN_PLACE_RATIO;
  rule.shares[0] = {first_node, first_share};
  rule.shares[1] = {second_node, second_share};
  rule.shares_count = 2;
  return rule;
}

TEST(Policy, TheKernelGetsEveryNodeOfARule) {
  const std::vector<std::vector<uint32_t>> lists = {{0}, {1}, {63}, {64}, {127}, {0, 1}, {0, 1, 63, 64, 127}};
  for (const auto& nodes : lists) {
    mlrun_place_rule rule{};
    rule.policy = MPOL_INTERLEAVE;
    for (const uint32_t node : nodes) rule.nodes[node / 64] |= uint64_t{1} << (node % 64);
    const auto caught = caught_policies([&] {
      EXPECT_TRUE(policy_apply(&rule, pages(), 3 * kPage, false, kNewOnly));
      EXPECT_TRUE(policy_apply(&rule, pages(), kPage, false, kExistingToo));
    });
    EXPECT_EQ(caught, (std::vector<CaughtPolicy>{{MPOL_INTERLEAVE, nodes, kAt, 3 * kPage, 0},
                                                 {MPOL_INTERLEAVE, nodes, kAt, kPage, MPOL_MF_MOVE}}));
  }
}

TEST(Policy, ARuleWithoutNodesMakesNoCall) {
  const mlrun_place_rule rule{};
  EXPECT_EQ(caught_policies([&] { EXPECT_TRUE(policy_apply(&rule, pages(), kPage, false, kNewOnly)); }),
            std::vector<CaughtPolicy>{});
}

TEST(Policy, EachPieceOfARatioIsOnItsNode) {
  const mlrun_place_rule rule = by_ratio(1, 3, 64, 1);
  const auto caught = caught_policies([&] {
    EXPECT_EQ(ratio_apply(&rule, pages(), 128, kNewOnly), 4u);
    ratio_undo(pages(), 128, 4);
  });
  EXPECT_EQ(caught, (std::vector<CaughtPolicy>{on_nodes({1}, 0, 48),
                                               on_nodes({64}, 48, 16),
                                               on_nodes({1}, 64, 48),
                                               on_nodes({64}, 112, 16),
                                               {MPOL_DEFAULT, {}, kAt, 128 * kPage, 0}}));
}

TEST(Policy, WholeMappingsTakeTurnsByTheirShares) {
  const mlrun_place_rule rule = by_ratio(1, 2, 63, 1);
  const auto caught = caught_policies([&] {
    for (int i = 0; i < 3; i++) EXPECT_EQ(ratio_apply_whole(&rule, pages(), 8 * kPage, kNewOnly), 1u);
    ratio_end_pieces(3);
  });
  EXPECT_EQ(caught, (std::vector<CaughtPolicy>{on_nodes({1}, 0, 8), on_nodes({1}, 0, 8), on_nodes({63}, 0, 8)}));
}

}  // namespace
}  // namespace mlrun::preload_test
