// SPDX-License-Identifier: Apache-2.0
#include "runner/util/units.h"

#include <gtest/gtest.h>

#include "runner/report/text/text_style.h"

namespace mlrun::util {
namespace {

TEST(UnitsTest, ShowsThreeDigitsAndAUnit) {
  const Glyphs unicode;
  EXPECT_EQ(time_text(0, unicode), "0 s");
  EXPECT_EQ(time_text(999, unicode), "999 ns");
  EXPECT_EQ(time_text(1000, unicode), "1.00 µs");
  EXPECT_EQ(time_text(1000, Glyphs{false}), "1.00 us");
  EXPECT_EQ(time_text(999'499, unicode), "999 µs");
  EXPECT_EQ(time_text(999'500, unicode), "1.00 ms");
  EXPECT_EQ(time_text(12'345'678, unicode), "12.3 ms");
  EXPECT_EQ(time_text(59'940'000'000, unicode), "59.9 s");
  EXPECT_EQ(time_text(59'960'000'000, unicode), "1 min 00 s");
  EXPECT_EQ(time_text(3'599'700'000'000, unicode), "1 h 00 min");
  EXPECT_EQ(time_text(INT64_MAX, unicode), "2562047 h 47 min");
  EXPECT_EQ(time_text(-1, unicode), "-");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(-1), "-");
  EXPECT_EQ(bound_text(4096), "4 KiB");
  EXPECT_EQ(bound_text(1536), "1.50 KiB");
  EXPECT_EQ(bound_text(512), "512 B");
  EXPECT_EQ(rate_text(1 << 20, 500'000'000), "2.00 MiB/s");
  EXPECT_EQ(rate_text(1, 0), "-");
  EXPECT_EQ(rate_text(INT64_MAX, 1), "8388608 TiB/s");
}

TEST(UnitsTest, GroupsCountsInThrees) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(9'999'999), "9,999,999");
  EXPECT_EQ(count_text(12'345'678), "12.3 M");
  EXPECT_EQ(count_text(1'234'000'000'000), "1.23 T");
}

TEST(UnitsTest, OneThingIsNoPlural) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(1234, "more run"), "1,234 more runs");
}

TEST(UnitsTest, ShowsNoneOrAllOnlyIfExact) {
  EXPECT_EQ(percent_text(0, 10), "0 %");
  EXPECT_EQ(percent_text(10, 10), "100 %");
  EXPECT_EQ(percent_text(1, 100'000), "<0.1 %");
  EXPECT_EQ(percent_text(99'999, 100'000), ">99.9 %");
  EXPECT_EQ(percent_text(1, 3), "33 %");
  EXPECT_EQ(percent_text(1, 30), "3.3 %");
  EXPECT_EQ(percent_text(997, 1000), "99.7 %");
  EXPECT_EQ(percent_text(0, 0), "-");
  EXPECT_EQ(percent_text(0.0), "0 %");
  EXPECT_EQ(percent_text(1.0), "100 %");
  EXPECT_EQ(percent_text(0.00001), "<0.1 %");
  EXPECT_EQ(percent_text(0.99999), ">99.9 %");
  EXPECT_EQ(percent_text(0.25), "25 %");
  EXPECT_EQ(percent_text(0.0), percent_text(0, 7));
}

TEST(TextStyleTest, CutsByCharactersNotByBytes) {
  const Glyphs unicode;
  EXPECT_EQ(report::cut_end("äöüß", 4, unicode), "äöüß");
  EXPECT_EQ(report::cut_end("äöüßx", 4, unicode), "äöü…");
  EXPECT_EQ(report::cut_front("/dätä/kits/x.npy", 7, unicode), "…/x.npy");
  EXPECT_EQ(report::cut_front("/data/kits/x.npy", 8, Glyphs{false}), "...x.npy");
  EXPECT_EQ(report::text_width("\x1b[1mäb\x1b[0m"), 2u);
  EXPECT_EQ(report::pad_left("ä", 3), "  ä");
}

TEST(TextStyleTest, LetsNoNameSteerTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\x0a\\x7f");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\xc2\\x9b31m");
  EXPECT_EQ(printable("inv\u202egnp"), "inv\\xe2\\x80\\xaegnp");
  EXPECT_EQ(printable("iso\u2066x line\u2028x"), "iso\\xe2\\x81\\xa6x line\\xe2\\x80\\xa8x");
  EXPECT_EQ(printable("zero\u200b tag\U000e0041 mark\ufeff"),
            "zero\\xe2\\x80\\x8b tag\\xf3\\xa0\\x81\\x81 mark\\xef\\xbb\\xbf");
  EXPECT_EQ(printable("bad\xff\xe2\x80"), "bad\\xff\\xe2\\x80");
  EXPECT_EQ(printable("join\u200dx 日本 \U0001f600"), "join\u200dx 日本 \U0001f600");
  EXPECT_EQ(printable("plain ä"), "plain ä");
}

TEST(TextStyleTest, WrapsItemsAtTheWidth) {
  report::TextStyle style;
  style.width = 20;
  EXPECT_EQ(report::wrap("HEAD", 6, {"a", "more words than a line has", "b"}, style),
            "HEAD  a\n      more words\n        than a line\n        has · b\n");
  EXPECT_EQ(report::wrap("HEAD", 6, {"/a/path/that/is/longer/than/a/line"}, style),
            "HEAD  /a/path/that/is/longer/than/a/line\n");
  EXPECT_EQ(report::wrap("HEAD", 6, {"one", "two", "three", "four"}, style), "HEAD  one · two\n      three · four\n");
}

}  // namespace
}  // namespace mlrun::util
