// SPDX-License-Identifier: Apache-2.0
#include "runner/util/number.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Number, OneAtTheStartIsReadUpToItsEnd) {
  EXPECT_EQ(leading_number<uint64_t>("4096 kB\n"), 4096u);
  EXPECT_EQ(leading_number<int>("-7"), -7);
  EXPECT_EQ(leading_number<uint64_t>("ff,1", 16), 0xffu);
  EXPECT_EQ(leading_number<uint64_t>("0100002", 8), 0100002u);
  for (const char* none : {"", " 1", "x1", "-1", "4294967296"}) EXPECT_EQ(leading_number<uint32_t>(none), 0u) << none;
}

TEST(Number, ACompleteOneHasNoTextAfterIt) {
  EXPECT_EQ(whole_number<uint32_t>("4294967295"), UINT32_MAX);
  EXPECT_EQ(whole_number<int64_t>("-1"), -1);
  EXPECT_EQ(whole_number<uint64_t>("1f", 16), 0x1fu);
  for (const char* none : {"", "1 ", "1\n", "1.5", "0x1", "-1", "4294967296"})
    EXPECT_FALSE(whole_number<uint32_t>(none)) << none;
}

TEST(Number, ARealOneIsAWholeTextToo) {
  EXPECT_EQ(real_number("-2.5e3"), -2500);
  EXPECT_EQ(real_number("7"), 7);
  for (const char* none : {"", " 1", "1 ", "1,5", "+1", "0x", "1e999"}) EXPECT_FALSE(real_number(none)) << none;
}

}  // namespace
}  // namespace mlrun::util
