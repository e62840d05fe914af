// SPDX-License-Identifier: Apache-2.0
// Answers about callers: how many are computed again, and that none is applied to another library.
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

extern "C" {
#include "preload/placement/site_answers.h"
}

namespace mlrun::preload_test {
namespace {

constexpr uint32_t kRules = 64;

// As sites.c does. Counts the searches through the symbols of a library.
class Rules {
 public:
  bool matches(uint32_t library, uint64_t offset, uint32_t rule) {
    const site_question question = ask_site(library, offset, rule);
    const site_answer known = find_site_answer(question);
    if (known != SITE_UNKNOWN) return known == SITE_MATCHES;
    searches++;
    keep_site_answer(question, truth(library, offset, rule));
    return truth(library, offset, rule);
  }
  static bool truth(uint64_t library, uint64_t offset, uint64_t rule) {
    return (library ^ offset >> 4 ^ rule) % 3 == 0;
  }

  uint64_t searches = 0;
};

// Callers at places for which (address ^ address >> 12) ends in the same 12 bits: a table with that index has one entry for all.
TEST(SiteAnswers, HotCallersAreSearchedOnce) {
  constexpr std::array<uint64_t, 3> kOffsets = {0x1001, 0x2002, 0x3003};
  Rules rules;
  for (int round = 0; round < 1000; round++)
    for (const uint64_t offset : kOffsets) EXPECT_EQ(rules.matches(7, offset, 0), Rules::truth(7, offset, 0));
  EXPECT_EQ(rules.searches, kOffsets.size());
}

TEST(SiteAnswers, AnyFourPairsKeepTheirAnswersTogether) {
  for (uint64_t i = 0; i < 1000; i++) {
    Rules rules;
    const uint32_t library = 100 + static_cast<uint32_t>(i);
    for (int round = 0; round < 3; round++)
      for (uint64_t pair = 0; pair < 4; pair++) rules.matches(library, (i * 7919 + pair * 4096) & 0xffffff, pair % 2);
    EXPECT_EQ(rules.searches, 4) << i;
  }
}

TEST(SiteAnswers, AnswersAreOfOneLibraryOneCallerAndOneRule) {
  Rules rules;
  for (int round = 0; round < 3; round++)
    for (uint32_t library = 1; library < 50; library++)
      for (uint64_t offset = 0; offset < 2000; offset += 40)
        for (uint32_t rule = 0; rule < kRules; rule += 9)
          ASSERT_EQ(rules.matches(library, offset, rule), Rules::truth(library, offset, rule));
}

TEST(SiteAnswers, WhatHasNoRoomInAWordIsNotKept) {
  EXPECT_NE(ask_site((1U << 24) - 1, UINT32_MAX, kRules - 1), 0);
  for (const site_question question :
       {ask_site(1U << 24, 0, 0), ask_site(1, uint64_t{1} << 32, 0), ask_site(1, 0, kRules)}) {
    EXPECT_EQ(question, 0);
    keep_site_answer(question, true);
    EXPECT_EQ(find_site_answer(question), SITE_UNKNOWN);
  }
}

}  // namespace
}  // namespace mlrun::preload_test
