// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/arena_layout.h"

#include <gtest/gtest.h>

namespace mlrun::collect {
namespace {

TEST(ArenaLayout, PartsFollowEachOtherAndFitTheirBudget) {
  for (const uint32_t count : {1u, 4u, 29u, 4096u, 65536u}) {
    const auto layout = make_arena_layout(count);
    EXPECT_GE(layout.drained_offset, layout.owner_offset + 4ull * count);
    EXPECT_GE(layout.stage_offset, layout.drained_offset + 4ull * count);
    EXPECT_EQ(layout.stage_offset % 4096, 0u);
    EXPECT_EQ(layout.segments_offset % MLRUN_SEGMENT_BYTES, 0u);
    EXPECT_EQ(segments_that_fit(layout.bytes), count);
    EXPECT_EQ(segments_that_fit(layout.bytes - 1), count - 1);
  }
}

}  // namespace
}  // namespace mlrun::collect
