// SPDX-License-Identifier: Apache-2.0
#include "runner/events/call_layout.h"

#include <gtest/gtest.h>

#include "runner/decode/func_names.h"

namespace mlrun::events {
namespace {

TEST(CallLayout, EveryFunctionThatOpensByNameHasThePathLayout) {
  EXPECT_TRUE(has_path_layout(func::k_openat));
  EXPECT_TRUE(has_path_layout(func::k_rename));
  EXPECT_FALSE(has_path_layout(func::k_fdopen));
  EXPECT_FALSE(has_path_layout(func::k_read));
  EXPECT_FALSE(has_path_layout(func::k_fork));
  EXPECT_FALSE(has_path_layout(9999));
}

}  // namespace
}  // namespace mlrun::events
