// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/loop_steps.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

constexpr Ns kApart = 50 * kMs;
constexpr int32_t kComputing = 1, kLoading = 2;  // stacks

// A loop is sampled every 50 ms. The made program: epochs of batches, each first loaded, then computed with.
class LoopStepsTest : public testing::Test {
 protected:
  void SetUp() override {
    timeline_ = made_timeline(60'000 * kMs);
    timeline_.stacks[kComputing] = {{"train", "train.py", 5}};
    timeline_.stacks[kLoading] = {{"load_batch", "train.py", 9}};
    timeline_.has_samples = true;
  }
  // Steps of these lengths over `items` items each; the sampler sees `seen` items of `total`.
  void epoch(int64_t total, int64_t items, Ns load_ns, Ns compute_ns, size_t steps,
             const char* place = "train.py:1:3") {
    const int32_t number = place_number(place);
    for (size_t k = 0; k < steps; ++k) {
      sample_until(at_ns_ + load_ns, kLoading, number, std::min<int64_t>(total, static_cast<int64_t>(k + 1) * items),
                   total);
      begins_.push_back(at_ns_);
      sample_until(at_ns_ + compute_ns, kComputing, number,
                   std::min<int64_t>(total, static_cast<int64_t>(k + 1) * items), total);
    }
    ++object_;
  }
  void elsewhere(Ns ns) { sample_until(at_ns_ + ns, kComputing, -1, 0, 0); }
  LoopSteps find() {
    Lines lines;
    Divider divider(timeline_, lines);
    const Division division = divider.divide(0);
    StackKinds kinds(timeline_);
    return steps_of_loops(timeline_, division, kinds);
  }
  [[nodiscard]] size_t near(const LoopSteps& found) const {
    size_t count = 0;
    for (size_t k = 0; k < std::min(begins_.size(), found.steps.size()); ++k)
      count += std::abs(found.steps[k].start_ns - begins_[k]) <= 20 * kMs ? 1 : 0;
    return count;
  }
  Timeline timeline_;
  std::vector<Ns> begins_;
  Ns at_ns_ = 1000 * kMs, next_ns_ = 1003 * kMs;
  uint64_t object_ = 0x1000;

 private:
  int32_t place_number(const std::string& place) {
    timeline_.loops.places.push_back(place);
    return static_cast<int32_t>(timeline_.loops.places.size()) - 1;
  }
  void sample_until(Ns to_ns, int32_t stack, int32_t place, int64_t position, int64_t total) {
    for (; next_ns_ < to_ns; next_ns_ += kApart) {
      thread_of(timeline_, kDriver).samples.push_back({next_ns_, next_ns_, 1, stack, 1, false});
      LoopSight sight;
      sight.ts_ns = next_ns_;
      sight.object = object_;
      sight.position = position;
      sight.total = total;
      sight.place = place;
      if (place >= 0) timeline_.loops.sights[kDriver].push_back(sight);
    }
    at_ns_ = to_ns;
    thread_of(timeline_, kDriver).last_ns = to_ns;
  }
};

TEST_F(LoopStepsTest, ALoopThatLeavesNoCallHasItsNumberOfSteps) {
  for (int k = 0; k < 3; ++k) {
    epoch(100, 1, 20 * kMs, 13 * kMs, 100);
    elsewhere(200 * kMs);
  }
  const LoopSteps found = find();
  EXPECT_EQ(found.steps.size(), 300U);
  EXPECT_GE(near(found), 290U);
}

TEST_F(LoopStepsTest, ASamplerThatTakesSevenItemsAtOnceHasASmallerLastBatch) {
  for (int k = 0; k < 3; ++k) epoch(403, 7, 20 * kMs, 60 * kMs, 58);
  const LoopSteps found = find();
  EXPECT_EQ(found.steps.size(), 3 * 58U);
  EXPECT_GE(near(found), 165U);
}

TEST_F(LoopStepsTest, ALastBatchThatIsLeftOutIsNotAStep) {
  for (int k = 0; k < 3; ++k) epoch(403, 7, 20 * kMs, 60 * kMs, 57);
  EXPECT_EQ(find().steps.size(), 3 * 57U);
}

TEST_F(LoopStepsTest, ALoopThatIsLeftHasNoKnownNumber) {
  epoch(400, 1, 20 * kMs, 13 * kMs, 150);
  elsewhere(500 * kMs);
  EXPECT_TRUE(find().steps.empty());
}

// Forty samples are loaded for each batch, and then it computes: the loop over samples is not one over steps, but looks like one.
TEST_F(LoopStepsTest, ALoopThatMakesOneBatchIsNotTheTraining) {
  const int32_t outer = 0;
  timeline_.loops.places = {"train.py:1:3"};
  std::vector<LoopSight> of_outer;
  for (int64_t k = 0; k < 30; ++k) {
    const size_t before = thread_of(timeline_, kDriver).samples.size();
    epoch(40, 1, 10 * kMs, 0, 40, "train.py:9:0");
    begins_.resize(static_cast<size_t>(k) + 1);
    elsewhere(300 * kMs);
    const auto& samples = thread_of(timeline_, kDriver).samples;
    for (size_t i = before; i < samples.size(); ++i) {
      LoopSight sight;
      sight.ts_ns = samples[i].start_ns;
      sight.object = 0x9000;
      sight.position = k + 1;
      sight.total = 30;
      sight.place = outer;
      of_outer.push_back(sight);
    }
  }
  auto& sights = timeline_.loops.sights[kDriver];
  sights.insert(sights.end(), of_outer.begin(), of_outer.end());
  std::stable_sort(sights.begin(), sights.end(), [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  EXPECT_EQ(find().steps.size(), 30U);
}

TEST_F(LoopStepsTest, TimesOfCallsArePreferredToThoseBetweenSamples) {
  epoch(200, 1, 20 * kMs, 40 * kMs, 200);
  const LoopSteps loops = find();
  ASSERT_EQ(loops.steps.size(), 200U);
  std::vector<StepBounds> seen;
  for (size_t k = 0; k < 200; ++k) {
    if (k != 70) seen.push_back({begins_[k], begins_[k] + kMs});
  }
  const auto both = steps_of_both(seen, loops);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 200U);
  size_t exact = 0;
  for (size_t k = 0; k < 200; ++k) exact += (*both)[k].start_ns == begins_[k] ? 1 : 0;
  EXPECT_GE(exact, 190U);
  EXPECT_FALSE(steps_of_both({seen.begin(), seen.begin() + 100}, loops)) << "calls that show another number are right";
}

}  // namespace
}  // namespace mlrun::blame
