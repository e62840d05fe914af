// SPDX-License-Identifier: Apache-2.0
// Figures, verdicts and conditions as text.
#include <gtest/gtest.h>

#include "runner/sweep/read/fail_if.h"
#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/quantity.h"

namespace mlrun::sweep {
namespace {

constexpr summary::Glyphs kUnicode{true}, kAscii{false};

Comparison compared(double difference, double low, double high, Verdict verdict) {
  Comparison c;
  c.n_a = c.n_b = 10;
  c.a = 2;
  c.b = 2 * (1 + difference);
  c.difference = difference;
  c.low = low;
  c.high = high;
  c.method = Method::kPairedLogT;
  c.verdict = verdict;
  c.margin = 0.03;
  return c;
}

TEST(FigureText, HasTheUnitOfTheName) {
  EXPECT_EQ(figure_text("wall_s", 2.314, kUnicode), "2.31 s");
  EXPECT_EQ(figure_text("max_rss_bytes", 3 << 20, kUnicode), "3.00 MiB");
  EXPECT_EQ(figure_text("bytes_read", 1024, kUnicode), "1.00 KiB");
  EXPECT_EQ(figure_text("steal_share", 0.123, kUnicode), "12 %");
  EXPECT_EQ(figure_text("major_faults", 1234, kUnicode), "1,234");
  EXPECT_EQ(figure_text("load_1m", 0.5, kUnicode), "0.5");
  EXPECT_EQ(figure_text("wall_s", kUnknown, kUnicode), "-");
  EXPECT_EQ(range_text("wall_s", {2.29, 2.33}, kUnicode), "2.29 to 2.33 s");
  EXPECT_EQ(range_text("wall_s", {0.9, 1.1}, kUnicode), "0.90 to 1.10 s");
  EXPECT_EQ(range_text("wall_s", {0.010987, 0.011037}, kUnicode), "10.99 to 11.04 ms") << "both ends are distinct";
  EXPECT_EQ(range_text("wall_s", {123.4, 124.1}, kUnicode), "123.4 to 124.1 s");
  EXPECT_EQ(range_text("max_rss_bytes", {1 << 20, 3 << 20}, kUnicode), "1.00 to 3.00 MiB");
  EXPECT_EQ(range_text("major_faults", {0, 0}, kUnicode), "0 to 0");
}

TEST(FigureText, ChangesKeepTwoDigitsOfWhatIsSmall) {
  EXPECT_EQ(change_text(0.056), "+5.6 %");
  EXPECT_EQ(change_text(-0.0004), "-0.04 %");
  EXPECT_EQ(change_text(0.123), "+12 %");
  EXPECT_EQ(change_text(0.00001), "0 %");
  EXPECT_EQ(changes_text(-0.004, 0.0271), "-0.4 to +2.7 %");
  EXPECT_EQ(changes_text(1.2412, 1.2446), "+124.1 to +124.5 %");
  EXPECT_EQ(changes_text(-0.25, 5.18), "-25 to +518 %");
}

TEST(Verdicts, AreThreeSentences) {
  EXPECT_EQ(verdict_text(compared(0.056, 0.048, 0.064, Verdict::kDiffers), kUnicode),
            "differs by +5.6 % (+4.8 to +6.4 %)");
  EXPECT_EQ(verdict_text(compared(0.001, -0.004, 0.006, Verdict::kEqual), kUnicode),
            "equal within ±3 % (-0.4 to +0.6 %)");
  EXPECT_EQ(verdict_text(compared(0.001, -0.004, 0.006, Verdict::kEqual), kAscii),
            "equal within +-3 % (-0.4 to +0.6 %)");
  Comparison unknown = compared(0.012, -0.02, 0.045, Verdict::kCannotTell);
  unknown.needs_runs = 12;
  EXPECT_EQ(verdict_text(unknown, kUnicode),
            "cannot tell: +1.2 % (-2.0 to +4.5 %), about 12 more runs on each side would tell");
}

TEST(Verdicts, OfFewRunsAreNone) {
  Comparison few = compared(0.5, 0.4, 0.6, Verdict::kCannotTell);
  few.n_a = few.n_b = 1;
  EXPECT_EQ(verdict_text(few, kUnicode), "cannot tell: +50 %, 1 run against 1 run; each side needs at least 3");
}

TEST(Conditions, AreOneFigureOneSignAndAPercentage) {
  const std::vector<std::string> known = {"wall_s", "max_rss_bytes"};
  const auto good = parse_condition("wall > +3 %", known);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->figure, "wall_s");
  EXPECT_TRUE(good->is_above);
  EXPECT_DOUBLE_EQ(good->limit, 0.03);
  const auto below = parse_condition("max_rss_bytes<-0.5%", known);
  ASSERT_TRUE(below);
  EXPECT_FALSE(below->is_above);
  EXPECT_DOUBLE_EQ(below->limit, -0.005);
  for (const char* bad : {"wall", "wall > 3", "wall > 3 s", "> 3 %", "wall > x %", "wall > +-3 %", "wall > nan %",
                          "wall > inf %", "wall > 3 % %", "wall >> 3 %", "wal > 3 %", "", "wall > %", "wall > 0x3 %"}) {
    const auto refused = parse_condition(bad, known);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().exit_code, 125);
    EXPECT_NE(refused.error().text.find("--fail-if '" + std::string(bad) + "'"), std::string::npos)
        << refused.error().text;
  }
  EXPECT_NE(parse_condition("wal > 3 %", {"wall_s", "wait_s"}).error().text.find("wall"), std::string::npos);
}

TEST(Conditions, AreJudgedByTheWholeInterval) {
  const Condition more{"wall > +3 %", "wall_s", true, 0.03}, less{"wall < -3 %", "wall_s", false, -0.03};
  const auto outcome = [](const Condition& condition, double low, double high) {
    return outcome_of(condition, compared((low + high) / 2, low, high, Verdict::kCannotTell));
  };
  EXPECT_EQ(outcome(more, -0.01, 0.03), Outcome::kPasses) << "the limit itself is allowed";
  EXPECT_EQ(outcome(more, 0.03, 0.05), Outcome::kUndecided) << "the lower end is not beyond the limit";
  EXPECT_EQ(outcome(more, 0.031, 0.05), Outcome::kFails);
  EXPECT_EQ(outcome(more, 0.01, 0.05), Outcome::kUndecided);
  EXPECT_EQ(outcome(less, -0.03, 0.01), Outcome::kPasses);
  EXPECT_EQ(outcome(less, -0.05, -0.031), Outcome::kFails);
  EXPECT_EQ(outcome(less, -0.05, -0.01), Outcome::kUndecided);
  Comparison few = compared(0.5, 0.4, 0.6, Verdict::kCannotTell);
  few.n_b = 2;
  EXPECT_EQ(outcome_of(more, few), Outcome::kUndecided);
}

TEST(Conditions, AFailureWeighsMoreThanDoubt) {
  const auto status = [](std::vector<Outcome> outcomes) {
    std::vector<Judged> judged;
    for (const Outcome outcome : outcomes) judged.push_back({nullptr, nullptr, nullptr, outcome});
    return exit_status_of(judged);
  };
  EXPECT_EQ(status({}), 0);
  EXPECT_EQ(status({Outcome::kPasses, Outcome::kPasses}), 0);
  EXPECT_EQ(status({Outcome::kPasses, Outcome::kUndecided}), 2);
  EXPECT_EQ(status({Outcome::kFails, Outcome::kUndecided}), 1);
}

}  // namespace
}  // namespace mlrun::sweep
