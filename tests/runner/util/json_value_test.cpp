// SPDX-License-Identifier: Apache-2.0
#include "runner/util/json_value.h"

#include <utility>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(JsonValue, CopiesAsAValueDoes) {
  JsonValue first;
  EXPECT_TRUE(first->is_object());
  (*first)["a"] = 1;
  JsonValue second = first;
  (*second)["a"] = 2;
  EXPECT_EQ((*first)["a"], 1);
  first = second;
  (*second)["a"] = 3;
  EXPECT_EQ((*first)["a"], 2);
  JsonValue& same = first;
  first = same;
  EXPECT_EQ((*first)["a"], 2);
  const JsonValue third = std::move(first);
  EXPECT_EQ(third->at("a"), 2);
  EXPECT_TRUE(first->is_null());
}

}  // namespace
}  // namespace mlrun::util
