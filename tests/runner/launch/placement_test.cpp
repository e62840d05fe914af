// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/placement.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "tests/runner/placement/caught_policies.h"

namespace mlrun::launch {
namespace {

PlacementTexts with(std::string PlacementTexts::*option, const char* list) {
  PlacementTexts texts;
  texts.*option = list;
  return texts;
}

TEST(placement, AnErrorNamesTheOption) {
  EXPECT_EQ(find_placement(with(&PlacementTexts::cpus, "8000")).error().text.substr(0, 12), "--cpus 8000:");
  EXPECT_EQ(find_placement(with(&PlacementTexts::mem_node, "x")).error().text.substr(0, 13), "--mem-node x:");
  EXPECT_EQ(find_placement(with(&PlacementTexts::interleave, "9-8")).error().text.substr(0, 17), "--interleave 9-8:");
  EXPECT_FALSE(find_placement({})->any());
}

TEST(placement, TwoPoliciesAreRefused) {
  PlacementTexts texts = with(&PlacementTexts::mem_node, "0");
  texts.preferred = "0";
  EXPECT_EQ(find_placement(texts).error().text,
            "--mem-node and --preferred both choose nodes of memory: give one of them");
}

TEST(placement, APolicyFromOutsideThatStopsNumaBalancingIsSeen) {
  if (policy_stops_balancing()) GTEST_SKIP() << "this test runs under a policy of memory";
  bool is_set = false, before = true, after = false;
  std::thread([&] {  // a policy is one of a thread
    before = policy_stops_balancing();
    is_set = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, nullptr, 0ul) == 0;
    after = policy_stops_balancing();
  })
      .join();
  if (!is_set) GTEST_SKIP() << "set_mempolicy is not allowed here";
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
}

TEST(placement, TheKernelGetsEveryNodeOfTheCommand) {
  constexpr int kPreferredMany = 5, kWeightedInterleave = 6;  // the headers may be older
  struct Case {
    MemoryPolicy policy;
    util::IdList nodes;
    long mode;
  };
  const std::vector<Case> cases = {{MemoryPolicy::kBind, {0}, MPOL_BIND},
                                   {MemoryPolicy::kBind, {1}, MPOL_BIND},
                                   {MemoryPolicy::kBind, {0, 1, 63, 64, 1023}, MPOL_BIND},
                                   {MemoryPolicy::kPreferred, {63}, MPOL_PREFERRED},
                                   {MemoryPolicy::kPreferred, {1, 63}, kPreferredMany},
                                   {MemoryPolicy::kInterleave, {0, 1, 2}, MPOL_INTERLEAVE},
                                   {MemoryPolicy::kWeightedInterleave, {1, 64}, kWeightedInterleave}};
  for (const auto& [policy, nodes, mode] : cases) {
    Placement placement;
    placement.mem_nodes = nodes;
    placement.policy = policy;
    const auto caught = mlrun::placement::caught_policies([&] { EXPECT_EQ(placement.apply(), 0); });
    EXPECT_EQ(caught, (std::vector<mlrun::placement::CaughtPolicy>{{mode, nodes}}));
  }
}

}  // namespace
}  // namespace mlrun::launch
