// SPDX-License-Identifier: Apache-2.0
#include "runner/util/crc32c.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Crc32c, IsTheOneOfTheStandard) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c_by_table(0, "123456789", 9), 0xe3069283u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(0, zeros.data(), zeros.size()), 0x8a9136aau);  // RFC 3720, B.4
}

TEST(Crc32c, InstructionTableAndPiecesAgreeAtAllLengths) {
  std::mt19937_64 random(1);
  std::string text(20000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (size_t bytes = 0; bytes < text.size(); bytes += 1 + bytes / 7) {
    const uint32_t whole = crc32c(0, text.data() + 3, bytes);
    ASSERT_EQ(whole, crc32c_by_table(0, text.data() + 3, bytes)) << bytes;
    const size_t cut = bytes / 3;
    ASSERT_EQ(whole, crc32c(crc32c(0, text.data() + 3, cut), text.data() + 3 + cut, bytes - cut)) << bytes;
  }
}

}  // namespace
}  // namespace mlrun::util
