// SPDX-License-Identifier: Apache-2.0
#include "runner/util/median.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Median, OfAnEvenNumberOfValuesIsTheUpperOneOrTheMean) {
  EXPECT_EQ(upper_median(std::vector<int64_t>{4, 1, 3, 2}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(upper_median(std::vector<int64_t>{9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
}

TEST(Median, OfOneValueIsThatAndOfNoneZero) {
  EXPECT_EQ(upper_median(std::vector<double>{7}), 7);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(upper_median(std::vector<double>{}), 0);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace mlrun::util
