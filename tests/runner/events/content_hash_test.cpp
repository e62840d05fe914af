// SPDX-License-Identifier: Apache-2.0
#include "runner/events/content_hash.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

uint64_t id_of(std::string_view text) { return mlrun_content_hash(text.data(), text.size()); }

// As the page of the format describes it, a byte at a time.
uint64_t id_by_bytes(const std::string& text) {
  uint64_t state = mlrun_hash_mix(0x2545f4914f6cdd1dull, text.size()), word = 0;
  for (size_t i = 0; i < text.size(); i++) {
    word |= uint64_t{static_cast<unsigned char>(text[i])} << 8 * (i % 8);
    if (i % 8 != 7) continue;
    state = mlrun_hash_mix(state, word);
    word = 0;
  }
  state = mlrun_hash_mix(state, word);
  state = mlrun_hash_mix(state, state >> 29);
  return state ? state : 1;
}

TEST(ContentHash, GivesTheIdsOfTheFormatsPage) {
  EXPECT_EQ(id_of(""), 0x382675b3faa48257u);
  EXPECT_EQ(id_of("a"), 0x4db6259077161240u);
  EXPECT_EQ(id_of("/etc/passwd"), 0x878153ea3cf070e2u);
  EXPECT_EQ(id_of("/data/case_00000_x.npy"), 0xd0ec2bd2df77636eu);
}

TEST(ContentHash, IsTheSameForEveryLengthAndPlaceInMemory) {
  const std::string bytes = "The quick brown fox \xff\x80 jumps over the lazy dog, 0123456789.";
  for (size_t first = 0; first < 9; first++) {
    for (size_t length = 0; first + length <= bytes.size(); length++) {
      const std::string part = bytes.substr(first, length);
      EXPECT_EQ(id_of(std::string_view(bytes).substr(first, length)), id_by_bytes(part)) << part;
    }
  }
}

}  // namespace
