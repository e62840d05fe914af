// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/picture.h"

#include <gtest/gtest.h>

#include "runner/sweep/read/quantity.h"
#include "tests/runner/sweep/read/made_sweep.h"

namespace mlrun::sweep {
namespace {

const ValueText kSeconds = [](double value) { return figure_text("wall_s", value, {}); };

report::TextStyle style_of_width(size_t width, bool unicode) {
  report::TextStyle style;
  style.width = width;
  style.glyphs.unicode = unicode;
  return style;
}

TEST(Dots, AreInRunOrderOnOneScale) {
  const std::vector<NamedSeries> all = {{"dry", {{1, 1, 1.0}, {2, 4, 2.0}}}, {"full", {{1, 2, 4.0}, {2, 3, 3.0}}}};
  EXPECT_EQ(dots(all, kSeconds, style_of_width(60, false)),
            "4.00 s|\n"
            "dry   |\n"
            "      |   o\n"
            "1.00 s|o\n"
            "4.00 s| o\n"
            "full  |  o\n"
            "      |\n"
            "1.00 s|\n");
}

TEST(Dots, FourOfThemAreAboveEachOtherInACharacterWithUnicode) {
  const std::vector<NamedSeries> all = {{"dry", {{1, 1, 0.0}, {2, 2, 15.0}}}};
  const std::string text = dots(all, kSeconds, style_of_width(60, true));
  EXPECT_NE(text.find("15.0 s│⠈\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0 s   │⡀\n"), std::string::npos) << text;
}

TEST(Dots, FitAnyNumberOfRuns) {
  for (const size_t runs : {1u, 7u, 10'000u}) {
    NamedSeries series{"a configuration with a long name that is cut", {}};
    for (size_t i = 0; i < runs; ++i) series.series.push_back({1, int32_t(i + 1), 1 + double(i % 17)});
    for (const bool unicode : {false, true}) {
      for (const size_t width : {40, 60, 200}) {
        const std::string text = dots({series}, kSeconds, style_of_width(width, unicode));
        EXPECT_EQ(lines_wider_than(text, width), "");
        EXPECT_TRUE(unicode || beyond_ascii(text).empty()) << text;
      }
    }
  }
}

TEST(Bars, ShowTheirCentreAndZero) {
  const std::vector<NamedBar> all = {
      {"dry", 0, Interval{-1, 1}}, {"full", 5, Interval{4, 6}}, {"once", 6, std::nullopt}};
  EXPECT_EQ(bars(
                all, 0.0, [](double value) { return std::to_string(int(value)); }, style_of_width(21, false)),
            "dry   |-o-|\n"
            "full    :       |-o-|\n"
            "once    :           o\n"
            "      -1            6\n");
  EXPECT_EQ(beyond_ascii(bars(all, 0.0, kSeconds, style_of_width(60, false))), "");
}

TEST(Bars, WithoutWidthAreAPoint) {
  EXPECT_EQ(bars(
                {{"a", 1, Interval{1, 1}}}, std::nullopt, [](double) { return "1"; }, style_of_width(20, false)),
            "a          o\n"
            "   1 ... 1\n");
}

}  // namespace
}  // namespace mlrun::sweep
