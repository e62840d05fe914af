// SPDX-License-Identifier: Apache-2.0
#include "runner/util/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Text, OnlyBytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(escaped_utf8("/data/größe 3\n"), "/data/größe 3\n");
  EXPECT_EQ(escaped_utf8("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(escaped_utf8("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escaped_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(escaped_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escaped_utf8("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(escaped_utf8("\\xff \\n"), "\\x5cxff \\n");
  for (const char* bytes : {"", "/data/größe", "a\xff\xc3", "\\xff \\n", "\\x", "\\\\x5c", "\xf0\x9f\x98\x80\xf0"})
    EXPECT_EQ(unescaped_utf8(escaped_utf8(bytes)), bytes);
  EXPECT_EQ(unescaped_utf8("\\xg1\\x1"), "\\xg1\\x1") << "another program wrote this";
}

TEST(Text, BlanksAtBothEndsAreTrimmed) {
  EXPECT_EQ(trimmed("\t a b \r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, FieldsOfFixedSizeEndAtTheFirstZero) {
  EXPECT_EQ(field_text("ab\0cd"), "ab");
  const char full[] = {'a', '\xff'};
  EXPECT_EQ(field_text(full), "a\\xff");
}

TEST(Text, WordsForAShellAreQuotedAndThoseForExecEndWithNull) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's $x"), R"('it'\''s $x')");
  const std::vector<std::string> texts = {"program", ""};
  const std::vector<char*> pointers = exec_pointers(texts);
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_EQ(pointers[0], texts[0].c_str());
  EXPECT_STREQ(pointers[1], "");
  EXPECT_EQ(pointers[2], nullptr);
}

TEST(Text, SizesAreReadWithUnitsAndShownWithThreeDigits) {
  EXPECT_EQ(*parse_size("0"), 0u);
  EXPECT_EQ(*parse_size("12k"), 12u << 10);
  EXPECT_EQ(*parse_size("256M"), 256u << 20);
  EXPECT_EQ(*parse_size("3GiB"), 3ull << 30);
  EXPECT_EQ(*parse_size("7B"), 7u);
  EXPECT_EQ(*parse_size("1.5G"), 3ull << 29);
  EXPECT_EQ(*parse_size("0.25K"), 256u);
  for (const char* bad : {"", "M", "1.5", "1.5B", "1.G", ".5G", "1.5.5G", "1e3", "1 M", "1Mi", "iB", "1KBB",
                          "18446744073709551616", "18446744073709551615.5K", "99999999999G"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1.00 KiB");
  EXPECT_EQ(size_text(4 << 20), "4.00 MiB");
  EXPECT_EQ(size_text(123ull << 30), "123 GiB");
}

TEST(Text, TimesAreReadOnlyWithAKnownUnit) {
  EXPECT_EQ(*parse_time("250ns"), 250u);
  EXPECT_EQ(*parse_time("10us"), 10'000u);
  EXPECT_EQ(*parse_time("7ms"), 7'000'000u);
  EXPECT_EQ(*parse_time("90s"), 90'000'000'000u);
  EXPECT_EQ(*parse_time("2.5s"), 2'500'000'000u);
  EXPECT_EQ(*parse_time("0.1us"), 100u);
  EXPECT_EQ(*parse_seconds("2.5"), 2'500'000'000u);
  EXPECT_FALSE(parse_seconds("."));
  EXPECT_FALSE(parse_seconds("2."));
  EXPECT_EQ(*parse_seconds("90"), 90'000'000'000u);
  EXPECT_EQ(*parse_seconds("10us"), 10'000u);
  EXPECT_FALSE(parse_seconds(""));
  EXPECT_EQ(*parse_time("10min"), 600'000'000'000u);
  EXPECT_EQ(*parse_time("10m"), 600'000'000'000u);
  EXPECT_EQ(*parse_time("2h"), 7'200'000'000'000u);
  EXPECT_EQ(*parse_time("1d"), 86'400'000'000'000u);
  for (const char* bad : {"", "s", "10", "1.5", "1.s", ".5s", "1 s", "-1s", "3 weeks", "99999999999999d", "10mi"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace mlrun::util
