// SPDX-License-Identifier: Apache-2.0
// Rules on a kernel that lacks a policy: a filter answers as Linux 5.10 does.
#include "runner/placement/resolve.h"

#include <sys/syscall.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "runner/launch/placement.h"
#include "runner/placement/rule_text.h"
#include "tests/runner/placement/refused_calls.h"

namespace mlrun::placement {
namespace {

TEST(Resolve, SeveralNodesOnAnOlderKernelAreOneClearError) {
  constexpr uint32_t kManyPreferred = 5;  // MPOL_PREFERRED_MANY
  where_it_is_refused(SYS_set_mempolicy, kManyPreferred, EINVAL, [] {
    const auto error_of = [](const char* text) {
      const Status checked = check_kernel(parse_rule(text).value(), {0, 1});
      return checked ? "" : checked.error().text;
    };
    EXPECT_EQ(error_of("-> regular"),
              "several nodes (0-1) without strict need Linux 5.15; name one node, such as -> node 0, or add strict");
    EXPECT_EQ(error_of("-> regular strict"), "");
    EXPECT_EQ(error_of("-> interleave 0,1"), "");
    EXPECT_EQ(error_of("-> 1:1 node 0,1"), "");
    EXPECT_TRUE(check_kernel(parse_rule("-> regular").value(), {1}));
    EXPECT_FALSE(launch::kernel_has(launch::MemoryPolicy::kPreferred, {0, 1}));
    EXPECT_STREQ(launch::policy_remedy(launch::MemoryPolicy::kPreferred),
                 "several nodes need Linux 5.15, one node does not");
  });
}

}  // namespace
}  // namespace mlrun::placement
