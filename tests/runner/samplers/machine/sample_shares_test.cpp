// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/sample_shares.h"

#include <gtest/gtest.h>

namespace mlrun::machine {
namespace {

constexpr double kShare = 0.004, kSavedNs = 5e6;
constexpr uint64_t kBeatNs = 100'000'000;

struct Minute {
  uint64_t process = 0, others = 0, cpu_ns = 0;
};

// Samples of a minute, 10 times a second, by the cost of each.
Minute minute(SampleShares::Words words, uint64_t process_ns, uint64_t others_ns) {
  SampleShares shares(kShare, kSavedNs, words, 0);
  Minute seen;
  for (uint64_t now_ns = 0; now_ns < 600 * kBeatNs; now_ns += kBeatNs) {
    const SampleShares::Words due = shares.due(now_ns);
    seen.process += due.process ? 1 : 0;
    seen.others += due.others ? 1 : 0;
    const uint64_t of_process_ns = due.process ? process_ns : 0;
    const uint64_t cpu_ns = of_process_ns + (due.others ? others_ns : 0);
    shares.take(cpu_ns, of_process_ns);
    seen.cpu_ns += cpu_ns;
  }
  return seen;
}

constexpr uint64_t kMinuteMaxNs =
    240'000'000 + 2 * 40'000'000;  // the share of a minute, what was saved, and one sample above it

TEST(SampleShares, ThousandsOfThreadsDoNotDelayTheOtherWords) {
  const Minute seen = minute({true, true}, 40'000'000, 200'000);
  EXPECT_EQ(seen.others, 600u);
  EXPECT_GE(seen.process, 2u);
  EXPECT_LE(seen.cpu_ns, kMinuteMaxNs);
}

TEST(SampleShares, ExpensiveOtherWordsLeaveProcessAQuarter) {
  const Minute seen = minute({true, true}, 1'000'000, 3'000'000);
  EXPECT_GE(seen.process, 55u) << "a quarter of 240 ms are 60 samples";
  EXPECT_LE(seen.cpu_ns, kMinuteMaxNs);
}

TEST(SampleShares, OneWordAloneHasTheWholeShare) {
  EXPECT_EQ(minute({true, false}, 390'000, 0).process, 600u);
  EXPECT_EQ(minute({false, true}, 0, 390'000).others, 600u);
  EXPECT_EQ(minute({false, true}, 0, 390'000).process, 0u);
}

}  // namespace
}  // namespace mlrun::machine
