// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/quantity.h"

#include <gtest/gtest.h>

#include "tests/runner/sweep/read/comparisons.h"

namespace mlrun::sweep {
namespace {

constexpr util::Glyphs kUnicode{true}, kAscii{false};

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

TEST(Verdicts, HaveOneTextEach) {
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

TEST(Verdicts, OfFewRunsAreUndecided) {
  Comparison few = compared(0.5, 0.4, 0.6, Verdict::kCannotTell);
  few.n_a = few.n_b = 1;
  EXPECT_EQ(verdict_text(few, kUnicode), "cannot tell: +50 %, 1 run against 1 run; each side needs at least 3");
}

}  // namespace
}  // namespace mlrun::sweep
