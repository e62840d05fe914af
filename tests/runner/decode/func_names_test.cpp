// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/func_names.h"

#include <set>

#include <gtest/gtest.h>

namespace mlrun::decode {
namespace {

TEST(FuncNames, VisitsEachKnownFunctionOnce) {
  std::set<uint16_t> numbers;
  for_each_func([&](const FuncInfo& info) {
    EXPECT_EQ(find_func(info.number), &info);
    EXPECT_EQ(func_name(info.number), info.name);
    EXPECT_TRUE(numbers.insert(info.number).second);
  });
  EXPECT_EQ(*numbers.rbegin(), kLargestFunc);
}

TEST(FuncNames, NumbersOfLaterVersionsHaveANameAndShareTheLastEntry) {
  EXPECT_EQ(func_name(kLargestFunc + 1), "function " + std::to_string(kLargestFunc + 1));
  EXPECT_EQ(func_slot(1), 1);
  EXPECT_EQ(func_slot(kFuncs), kFuncs - 1);
  EXPECT_EQ(find_func(func_slot(UINT16_MAX)), nullptr);
}

}  // namespace
}  // namespace mlrun::decode
