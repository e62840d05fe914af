// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/kernel_check.h"

#include <gtest/gtest.h>

namespace mlrun::placement {
namespace {

TEST(KernelCheck, NamesWhatIsRefusedAndWhatIsLackingThen) {
  const std::vector<std::string> refused = refused_by_kernel(1000);  // a node that no machine has
  ASSERT_GE(refused.size(), 2u);
  EXPECT_TRUE(refused[0].starts_with("no --place: mbind is refused (")) << refused[0];
  EXPECT_TRUE(refused[1].starts_with("no --mem-node, --preferred and --interleave: set_mempolicy is refused ("))
      << refused[1];
}

}  // namespace
}  // namespace mlrun::placement
