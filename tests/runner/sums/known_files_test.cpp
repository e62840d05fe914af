// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/known_files.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace mlrun::sums {
namespace {

decode::FileEvent file(uint32_t number, uint64_t path, uint64_t inode = 5, uint32_t mode = S_IFREG | 0644) {
  decode::FileEvent event;
  event.number = number;
  event.path = path;
  event.inode = inode;
  event.mode = mode;
  return event;
}

TEST(KnownFiles, OneFileOpenedOftenIsDescribedOnce) {
  KnownFiles files;
  EXPECT_TRUE(files.add(file(1, 77), false, true));
  EXPECT_FALSE(files.add(file(2, 77), false, true));
  EXPECT_TRUE(files.add(file(3, 78), false, true));
  EXPECT_TRUE(files.add(file(4, 77, 6), false, true));
  EXPECT_EQ(files.described(1), 1u);
  EXPECT_EQ(files.described(2), 1u);
  EXPECT_EQ(files.described(4), 4u);
  EXPECT_EQ(files.described(99), 0u);
  ASSERT_EQ(files.same().size(), 1u);
  EXPECT_EQ(files.same()[0].number, 2u);
  EXPECT_EQ(files.same()[0].described, 1u);
}

TEST(KnownFiles, WithoutRoomOnlyTheTypeIsKnown) {
  KnownFiles files;
  EXPECT_FALSE(files.add(file(1, 77, 5, S_IFIFO), false, false));
  ASSERT_NE(files.find(1), nullptr);
  EXPECT_EQ(files.find(1)->number, 0u);
  EXPECT_EQ(files.find(1)->type, uint32_t{S_IFIFO});
  EXPECT_TRUE(files.find(1)->is_channel);
}

TEST(KnownFiles, RemembersTheOnesUsedLast) {
  KnownFiles files;
  constexpr auto kMany = static_cast<uint32_t>(3 * KnownFiles::kOpenKept);
  files.add(file(1, 77), false, true);
  for (uint32_t number = 2; number < kMany; number++) {
    files.add(file(number, 77), false, true);
    if (number % 1000 == 0) {
      ASSERT_EQ(files.described(1), 1u);
    }
  }
  EXPECT_EQ(files.described(1), 1u);
  EXPECT_EQ(files.described(2), 0u);
  EXPECT_LE(files.same().size(), 2 * KnownFiles::kOpenKept);
}

}  // namespace
}  // namespace mlrun::sums
