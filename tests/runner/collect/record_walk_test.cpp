// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/record_walk.h"

#include <gtest/gtest.h>

#include "runner/events/record.h"

namespace mlrun::collect {
namespace {

TEST(Walk, StopsAtAnImpossibleRecord) {
  alignas(64) char segment[MLRUN_SEGMENT_BYTES] = {};
  auto* words = reinterpret_cast<uint64_t*>(segment);
  words[8] = mlrun_word0(3, 2, MLRUN_MALLOC, 0);
  words[12] = mlrun_word0(3, 0, MLRUN_MALLOC, 0);
  Walk walk = walk_records(segment, 64, 3);
  EXPECT_EQ(walk.end, 96u);
  EXPECT_TRUE(walk.corrupt);
  words[12] = mlrun_word0(3, 255, MLRUN_MALLOC, 0);
  EXPECT_EQ(walk_records(segment, 64, 3).end, 96u + 4080u);
  words[8190] = mlrun_word0(3, 2, MLRUN_MALLOC, 0);  // reaches beyond the end
  walk = walk_records(segment, MLRUN_SEGMENT_BYTES - 16, 3);
  EXPECT_TRUE(walk.corrupt);
  EXPECT_EQ(walk_records(segment, MLRUN_SEGMENT_BYTES, 3).end, uint32_t{MLRUN_SEGMENT_BYTES});
}

}  // namespace
}  // namespace mlrun::collect
