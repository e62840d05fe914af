// SPDX-License-Identifier: Apache-2.0
#include "runner/util/wrap.h"

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Wrap, BreaksBetweenWordsAndKeepsLongOnes) {
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 10, "ok   "), "ok   one\n     two\n     three\n");
  EXPECT_EQ(wrapped("a /a/long/path/that/stays b", 6), "a\n/a/long/path/that/stays\nb\n");
  EXPECT_EQ(wrapped("one\ntwo", 80, "  "), "  one\n  two\n");
  EXPECT_EQ(wrapped("\u00e9\u00e9 \u00e9\u00e9", 5), "\u00e9\u00e9 \u00e9\u00e9\n") << "characters, not bytes";
  EXPECT_EQ(wrapped("", 80), "\n");
}

}  // namespace
}  // namespace mlrun::util
