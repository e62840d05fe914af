// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_pass.h"

#include <limits>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(PauseOf, APauseEndsWhereItWasResumed) {
  const auto pause = pause_of({MLRUN_GAP_PAUSED, 0, 5, 7, 0});
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->begin_ns, 5);
  EXPECT_EQ(pause->end_ns, 7);
}

TEST(PauseOf, AfterAFullSpoolOrDiskNothingIsRecorded) {
  for (const mlrun_gap_reason reason : {MLRUN_GAP_SPOOL_FULL, MLRUN_GAP_DISK_FULL}) {
    const auto pause = pause_of({static_cast<__u32>(reason), 0, 5, 5, 0});
    ASSERT_TRUE(pause);
    EXPECT_EQ(pause->begin_ns, 5);
    EXPECT_EQ(pause->end_ns, std::numeric_limits<int64_t>::max());
  }
}

TEST(PauseOf, LostRecordsAreNoPause) { EXPECT_FALSE(pause_of({MLRUN_GAP_TORN, 0, 5, 7, 64})); }

}  // namespace
}  // namespace mlrun::trace
