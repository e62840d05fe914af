// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/predict.h"

#include <cmath>

#include <gtest/gtest.h>

#include "runner/sweep/advise/verdict.h"

namespace mlrun::sweep {
namespace {

Series series(double mean, double noise, int seed) {
  Series result;
  for (int32_t block = 1; block <= 8; block++)
    result.push_back({block, block, mean + noise * std::sin(seed + 7.0 * block)});
  return result;
}

// 10 s on the slow memory; the sites save 3, 1 and 0 s.
Calibration three_sites() {
  return {series(6, 0.05, 1),
          series(10, 0.05, 2),
          {{0, series(7, 0.05, 3)}, {1, series(9, 0.05, 4)}, {2, series(10, 0.05, 5)}},
          {8, 1, 1}};
}

TEST(Predict, GainsAreTheSecondsThatEachSiteSavesByItself) {
  const std::vector<double> gains = site_gains(three_sites());
  ASSERT_EQ(gains.size(), 3u);
  EXPECT_NEAR(gains[0], 3, 0.1);
  EXPECT_NEAR(gains[1], 1, 0.1);
  EXPECT_NEAR(gains[2], 0, 0.1);
}

TEST(Predict, GainsOfChosenSitesAddUp) {
  const auto one = predict(three_sites(), {0}), two = predict(three_sites(), {0, 1}),
             all = predict(three_sites(), {0, 1, 2});
  EXPECT_NEAR(one->change, -0.3, 0.02);
  EXPECT_NEAR(two->change, -0.4, 0.02);
  EXPECT_NEAR(all->change, -0.4, 0.01);
  EXPECT_LT(one->low, -0.3);
  EXPECT_GT(one->high, -0.3);
  EXPECT_LT(one->high - one->low, 0.05);
}

TEST(Predict, UnmeasuredGainsWidenTheInterval) {
  Calibration calibration = three_sites();
  calibration.alone = {{0, calibration.alone[0]}};  // the others save 1 s together
  const auto measured = predict(calibration, {0}), guessed = predict(calibration, {0, 1});
  EXPECT_NEAR(guessed->change, -0.35, 0.02);
  EXPECT_GT(guessed->high - guessed->low, measured->high - measured->low + 0.05);
}

TEST(Predict, BlocksThatNoChoiceCanMoveSaveNothing) {
  Calibration calibration = three_sites();
  calibration.alone.clear();  // near saves 4 s, of which no site is known
  const auto whole = predict(calibration, {0, 1, 2});
  EXPECT_NEAR(whole->change, -0.4, 0.01);
  calibration.weight_elsewhere = 30;  // the sites have a quarter of the weight
  const auto part = predict(calibration, {0, 1, 2});
  EXPECT_NEAR(part->change, -0.1, 0.02);
  EXPECT_GT(part->high - part->low, whole->high - whole->low + 0.05);
}

TEST(Predict, TwoBlocksAreTooFew) {
  Calibration calibration = three_sites();
  EXPECT_TRUE(check_blocks(calibration));
  calibration.near.resize(2);
  EXPECT_FALSE(check_blocks(calibration));
}

// The sites save 3, 1 and 0 s; not everything fits on the fast memory.
Calibration without_near() {
  Calibration calibration = three_sites();
  calibration.near.clear();
  return calibration;
}

TEST(Predict, WithoutNearOneSiteIsPredictedFromItsOwnRuns) {
  const auto with = predict(three_sites(), {0}), without = predict(without_near(), {0});
  EXPECT_TRUE(check_blocks(without_near()));
  EXPECT_DOUBLE_EQ(without->change, with->change);
  EXPECT_GT(without->low, with->low - 0.01);
  EXPECT_EQ(without->near_s, 0);
  EXPECT_GT(with->near_s, 5);
}

TEST(Predict, WithoutNearGainsThatMayNotAddUpWidenTheInterval) {
  const auto two = predict(without_near(), {0, 1});
  EXPECT_NEAR(two->change, -0.4, 0.02);
  EXPECT_NEAR(two->low, -0.5, 0.03) << "the second site may save twice as much";
  EXPECT_NEAR(two->high, -0.3, 0.03) << "or nothing";
}

TEST(Predict, WithoutNearOtherSitesSaveAsMuchPerWeight) {
  Calibration calibration = without_near();
  calibration.alone = {{1, calibration.alone[1]}};  // weight 1: 1 s
  calibration.weights = {2, 1, 0.5};
  const std::vector<double> gains = site_gains(calibration);
  EXPECT_NEAR(gains[0], 2, 0.1);
  EXPECT_NEAR(gains[1], 1, 0.1);
  EXPECT_NEAR(gains[2], 0.5, 0.1);
  const auto guessed = predict(calibration, {0, 1});
  EXPECT_NEAR(guessed->change, -0.3, 0.02);
  EXPECT_NEAR(guessed->high, -0.1, 0.03) << "only the second site was measured";
}

std::map<std::string, Series> runs(double advised, double noise) {
  return {{kFar, series(10, noise, 1)},
          {kNear, series(6, noise, 2)},
          {kControl, series(10, noise, 3)},
          {kAdvised, series(advised, noise, 4)}};
}

TEST(Verdict, APredictionHoldsFailsOrCannotBeJudged) {
  Advice advice;
  EXPECT_EQ(judge(advice, runs(7, 0.05)).held, Held::kNoPrediction);
  advice.prediction = Prediction{-0.3, -0.32, -0.28, 6, 10, 8};
  EXPECT_EQ(judge(advice, runs(7, 0.05)).held, Held::kHeld);
  EXPECT_EQ(judge(advice, runs(9.9, 0.05)).held, Held::kFailed);
  EXPECT_EQ(judge(advice, runs(8, 5)).held, Held::kCannotTell);
  EXPECT_EQ(judge(advice, {}).held, Held::kCannotTell);
}

TEST(Verdict, RunsOfUnknownPlacementConfirmNothing) {
  Advice advice;
  advice.prediction = Prediction{-0.3, -0.32, -0.28, 6, 10, 8};
  for (const char* const name : {kFar, kAdvised}) {
    const TryResult result = judge(advice, runs(7, 0.05), {name});
    EXPECT_EQ(result.held, Held::kCannotTell);
    const std::string said = try_text(advice, runs(7, 0.05), result);
    EXPECT_NE(said.find(std::string("no run of '") + name + "' had a sampled page"), std::string::npos) << said;
  }
  EXPECT_EQ(judge(advice, runs(7, 0.05), {kNear, kControl}).held, Held::kHeld);
  EXPECT_EQ(judge(advice, runs(9.9, 0.05), {kAdvised}).held, Held::kCannotTell);
}

Held judged(double low, double high, double advised) {
  Advice advice;
  advice.prediction = Prediction{(low + high) / 2, low, high, 6, 10, 8};
  return judge(advice, runs(advised, 0.05)).held;
}

TEST(Verdict, APredictionWhoseIntervalContains0CannotHold) {
  EXPECT_EQ(judged(-0.35, 0.01, 7), Held::kCannotTell);
  EXPECT_EQ(judged(-0.35, 0, 7), Held::kCannotTell);
  EXPECT_EQ(judged(0, 0.35, 13), Held::kCannotTell);
  EXPECT_EQ(judged(-0.01, 0.01, 10), Held::kCannotTell);
  EXPECT_EQ(judged(-0.35, -0.01, 7), Held::kHeld);
  EXPECT_EQ(judged(0.25, 0.35, 13), Held::kHeld);
  EXPECT_EQ(judged(-0.01, 0.35, 7), Held::kFailed);  // but it can fail
}

TEST(Verdict, OnlyPlacementsWithRunsAreShown) {
  std::map<std::string, Series> time_s = runs(7, 0.05);
  time_s.erase(kNear);
  const std::string text = try_text(Advice(), time_s, judge(Advice(), time_s));
  EXPECT_NE(text.find("advised "), std::string::npos) << text;
  EXPECT_EQ(text.find("near "), std::string::npos) << text;
}

TEST(Verdict, TheTextNamesWhatWouldDecide) {
  const auto text = [](double low, double high, const std::map<std::string, Series>& time_s) {
    Advice advice;
    advice.prediction = Prediction{(low + high) / 2, low, high, 6, 10, 8};
    const std::string all = try_text(advice, time_s, judge(advice, time_s));
    return all.substr(all.find("cannot tell"));
  };
  EXPECT_EQ(text(-0.35, 0.01, runs(7, 0.05)),
            "cannot tell whether the prediction holds: the predicted interval contains 0; a narrower one would tell "
            "(a new --calibrate folder with more --blocks)\n");
  EXPECT_EQ(text(-0.32, -0.28, {}),
            "cannot tell whether the prediction holds: 3 blocks with runs of both far and advised would tell\n");
  const std::map<std::string, Series> noisy = runs(8, 5);
  const auto needs = compare(noisy.at(kFar), noisy.at(kAdvised), {}).needs_runs;
  ASSERT_TRUE(needs);
  EXPECT_EQ(text(-0.32, -0.28, noisy),
            "cannot tell whether the prediction holds: the measured interval contains 0; about " +
                std::to_string(*needs) + " more blocks would tell (a new --try folder with --blocks " +
                std::to_string(8 + *needs) + ")\n");
}

}  // namespace
}  // namespace mlrun::sweep
