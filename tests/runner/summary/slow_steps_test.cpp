// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/slow_steps.h"

#include <string>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

StepRow step(int64_t number, int64_t wait_ns, int64_t compute_ns, int64_t checkpoint_ns) {
  return {number, 1000 * number, wait_ns + compute_ns + checkpoint_ns, wait_ns, compute_ns, checkpoint_ns, 0};
}

TEST(SlowSteps, TheLongestComeFirstWithThePartThatWasLonger) {
  Answer answer;
  for (int64_t number = 1; number <= 20; ++number) {
    answer.step_rows.push_back(step(number, number == 7 ? 90 : 10, number == 9 ? 60 : 40, number == 15 ? 500 : 0));
  }
  const SlowSteps slow = slow_steps(answer, 2);
  EXPECT_EQ(slow.median_ns, 50);
  EXPECT_EQ(slow.count, 3U);
  ASSERT_EQ(slow.first.size(), 2U);
  EXPECT_EQ(slow.first[0].step->step, 15);
  EXPECT_STREQ(slow.first[0].part, "checkpoint");
  EXPECT_EQ(slow.first[0].above_ns, 500);
  EXPECT_EQ(slow.first[1].step->step, 7);
  EXPECT_STREQ(slow.first[1].part, "waiting");
  EXPECT_EQ(slow.first[1].above_ns, 80);
}

TEST(SlowSteps, StepsOfEqualLengthAreNotSlow) {
  Answer answer;
  for (int64_t number = 1; number <= 20; ++number) answer.step_rows.push_back(step(number, 10, 40 + number % 3, 0));
  EXPECT_EQ(slow_steps(answer, 10).count, 0U);
  EXPECT_TRUE(slow_steps(Answer(), 10).first.empty());
}

}  // namespace
}  // namespace mlrun::summary
