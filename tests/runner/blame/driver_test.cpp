// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/driver.h"

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

TEST(Driver, AWantedIdMeansTheThreadThatLivedLongestWithIt) {
  Timeline timeline = made_timeline(1000 * kMs);
  add_process(timeline, 3, 1, 5, 990 * kMs, 1000 * kMs);
  thread_of(timeline, 5).tid = thread_of(timeline, kHelper).tid;
  EXPECT_EQ(find_driver(timeline, thread_of(timeline, kHelper).tid), kHelper);
  EXPECT_EQ(find_driver(timeline, 99), 0);
}

}  // namespace
}  // namespace mlrun::blame
