// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/replay.h"

#include <gtest/gtest.h>

namespace mlrun::findings {
namespace {

TEST(WhatIf, IsReadFromWords) {
  const auto change = parse_what_if("workers=4,io=free");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->workers, 4);
  EXPECT_TRUE(change->files_cost_nothing);
  EXPECT_FALSE(change->no_slow_batch);
}

TEST(WhatIf, HasOneNumberOfWorkers) {
  const auto change = parse_what_if("workers=4,workers=2");
  ASSERT_FALSE(change);
  EXPECT_NE(change.error().text.find("twice"), std::string::npos) << change.error().text;
}

TEST(WhatIf, NamesAWordThatItDoesNotKnow) {
  for (const char* text : {"", "workers=0", "workers=x", "workers=4x", "io=cheap", "workers=4,", "workers=99999"}) {
    const auto change = parse_what_if(text);
    ASSERT_FALSE(change) << text;
    EXPECT_NE(change.error().text.find("workers=N"), std::string::npos) << change.error().text;
  }
}

}  // namespace
}  // namespace mlrun::findings
