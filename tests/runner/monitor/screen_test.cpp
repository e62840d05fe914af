// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/screen.h"

#include <gtest/gtest.h>

namespace mlrun::monitor {
namespace {

TEST(Screen, LinesAreCutToCharactersAndBlocksToLines) {
  EXPECT_EQ(fitted("abcd\nab\n", 3, 9), "abc\nab\n");
  EXPECT_EQ(fitted("äöüß\n", 3, 9), "äöü\n");
  EXPECT_EQ(fitted("a\nb\nc\n", 9, 2), "a\nb\n");
  EXPECT_EQ(fitted("a\n\nb", 9, 9), "a\n\nb\n");
  EXPECT_EQ(fitted("", 9, 9), "");
}

}  // namespace
}  // namespace mlrun::monitor
