// SPDX-License-Identifier: Apache-2.0
// The share of a processor that samples may take, by a clock of the test's own.
#include "runner/samplers/rounds/sample_budget.h"

#include <gtest/gtest.h>

namespace mlrun::rounds {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;
constexpr double kShare = 0.02;

struct Spent {
  uint64_t cpu_ns = 0, samples = 0, left_out = 0;
};

// A sample every millisecond for ten seconds, each of which takes so long.
Spent sample_often(SampleBudget& budget, uint64_t begin_ns, uint64_t sample_cpu_ns) {
  Spent spent;
  for (uint64_t ns = begin_ns; ns < begin_ns + 10 * kSecond; ns += kMs) {
    if (!budget.allows(ns)) {
      ++spent.left_out;
      continue;
    }
    budget.take(sample_cpu_ns);
    spent.cpu_ns += sample_cpu_ns;
    ++spent.samples;
  }
  return spent;
}

TEST(SampleBudget, SamplesThatWouldTakeMoreThanTheirShareAreLeftOut) {
  SampleBudget budget(kShare, 100 * kMs, 0);
  const Spent spent = sample_often(budget, 0, 5 * kMs);
  EXPECT_LE(spent.cpu_ns, 200 * kMs + 100 * kMs + 5 * kMs);  // the share, what was saved, the last sample
  EXPECT_GE(spent.cpu_ns, 200 * kMs);
  EXPECT_EQ(spent.samples + spent.left_out, 10'000u);
}

TEST(SampleBudget, SamplesWithinTheirShareAreNeverLeftOut) {
  SampleBudget budget(kShare, 100 * kMs, 0);
  EXPECT_EQ(sample_often(budget, 0, kMs / 100).left_out, 0u);
}

TEST(SampleBudget, SavingsOfAQuietHourAreLimited) {
  SampleBudget budget(kShare, 100 * kMs, 0);
  const Spent spent = sample_often(budget, 3600 * kSecond, 5 * kMs);
  EXPECT_LE(spent.cpu_ns, 200 * kMs + 100 * kMs + 5 * kMs);
}

TEST(SampleBudget, ASampleThatTookLongIsPaidForByThoseAfterIt) {
  SampleBudget budget(kShare, 100 * kMs, 0);
  EXPECT_TRUE(budget.allows(0));
  budget.take(300 * kMs);
  EXPECT_FALSE(budget.allows(10 * kSecond - kMs));
  EXPECT_TRUE(budget.allows(10 * kSecond + kMs));
}

TEST(SampleBudget, AnAdvanceIsAvailableAtOnceAndPaidBack) {
  SampleBudget budget(kShare, 10 * kMs, 0, 100 * kMs);
  EXPECT_TRUE(budget.allows(0));
  budget.take(105 * kMs);
  EXPECT_TRUE(budget.allows(kMs));
  const Spent early = sample_often(budget, kMs, 5 * kMs), late = sample_often(budget, 1000 * kSecond, 5 * kMs);
  EXPECT_NEAR(static_cast<double>(late.cpu_ns - early.cpu_ns), 50.0 * kMs, 11.0 * kMs);  // half of it, in 10 of 20 s
}

TEST(SampleBudget, KnowsWhenThereWillBeEnough) {
  SampleBudget budget(kShare, 100 * kMs, 0);
  budget.take(300 * kMs);
  EXPECT_EQ(budget.until_ns(-300.0 * kMs), 0u);
  for (const double wanted_ns : {0.0, 40.0 * kMs}) {
    const uint64_t until_ns = budget.until_ns(wanted_ns);
    SampleBudget before = budget, then = budget;
    before.allows(until_ns - kMs);
    then.allows(until_ns);
    EXPECT_LT(before.left_ns(), wanted_ns);
    EXPECT_GT(then.left_ns(), wanted_ns);
  }
}

}  // namespace
}  // namespace mlrun::rounds
