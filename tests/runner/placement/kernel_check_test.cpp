// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/kernel_check.h"

#include <sys/syscall.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "tests/runner/placement/caught_policies.h"
#include "tests/runner/placement/refused_calls.h"

namespace mlrun::placement {
namespace {

TEST(KernelCheck, NamesEachRefusedSystemCall) {
  const std::vector<std::string> refused = refused_by_kernel(1000);  // a node that no machine has
  ASSERT_GE(refused.size(), 2u);
  EXPECT_TRUE(refused[0].starts_with("no --place: mbind is refused (")) << refused[0];
  EXPECT_TRUE(refused[1].starts_with("no --mem-node, --preferred and --interleave: set_mempolicy is refused ("))
      << refused[1];
}

TEST(KernelCheck, TriesTheNodeThatItIsAskedFor) {
  for (const uint32_t node : {1u, 63u, 64u}) {
    const auto caught = caught_policies([&] { refused_by_kernel(node); });
    ASSERT_EQ(caught.size(), 2u);  // mbind, set_mempolicy
    for (const CaughtPolicy& one : caught) EXPECT_EQ(one.nodes, std::vector<uint32_t>{node});
  }
}

// As Docker's own seccomp profile refuses it, with any capability.
TEST(KernelCheck, DoesNotPromiseThatACapabilityAllowsMovePages) {
  where_it_is_refused(SYS_move_pages, 0, EPERM, [] {
    const std::vector<std::string> refused = refused_by_kernel(1000);
    ASSERT_FALSE(refused.empty());
    EXPECT_EQ(refused.back(),
              "no sampling of where pages are: move_pages is refused (Operation not permitted); in a "
              "container, allow it in the seccomp profile; CAP_SYS_NICE may not be enough");
  });
}

}  // namespace
}  // namespace mlrun::placement
