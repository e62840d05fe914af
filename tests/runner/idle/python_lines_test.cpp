// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/python_lines.h"

#include <gtest/gtest.h>

namespace mlrun {
namespace {

using idle::PythonLines;

// The frame of the sample that is found; 0: none.
int32_t found(const PythonLines& lines, int64_t from_ns, int64_t to_ns, int32_t thread_id = 1) {
  const PythonLines::Sample* sample = lines.find(thread_id, {from_ns, to_ns});
  return sample == nullptr ? 0 : sample->frame_id;
}

TEST(PythonLines, TheSampleNearestToTheMiddleOfThePieceCounts) {
  PythonLines lines;
  for (int32_t frame : {3, 1, 2}) lines.add(1, {frame * 100, frame * 100, frame, frame});
  lines.add(2, {150, 150, 9, 9});
  lines.sort();
  EXPECT_EQ(found(lines, 90, 320), 2);
  EXPECT_EQ(found(lines, 50, 210), 1);
  EXPECT_EQ(found(lines, 190, 500), 3);
  EXPECT_EQ(found(lines, 140, 160, 2), 9);
}

TEST(PythonLines, NoSampleOutsideOfThePieceCounts) {
  PythonLines lines;
  lines.add(1, {100, 100, 1, 1});
  lines.add(0, {150, 150, 1, 1});
  lines.sort();
  EXPECT_EQ(found(lines, 101, 200), 0);
  EXPECT_EQ(found(lines, 50, 100), 0);
  EXPECT_EQ(found(lines, 100, 101), 1);
  EXPECT_EQ(found(lines, 140, 160, 0), 0);
  EXPECT_EQ(found(PythonLines(), 0, 1000), 0);
}

TEST(PythonLines, BetweenTwoSamplesAThreadMayHaveBeenElsewhere) {
  PythonLines lines;
  lines.add(1, {100, 500, 1, 1, 100});
  lines.add(1, {600, 600, 2, 2, 0});
  lines.sort();
  EXPECT_EQ(found(lines, 210, 290), 0);
  EXPECT_EQ(found(lines, 150, 350), 1);  // two samples lie in it
  EXPECT_EQ(found(lines, 50, 150), 1);
  EXPECT_EQ(found(lines, 450, 1000), 2);
  EXPECT_EQ(found(lines, 510, 590), 0);
}

}  // namespace
}  // namespace mlrun
