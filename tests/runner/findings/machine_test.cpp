// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/machine.h"

#include <gtest/gtest.h>

namespace mlrun::findings {
namespace {

TEST(Machine, ALimitOfTheCgroupLeavesFewerProcessorsThanAreIdle) {
  Machine machine;
  machine.processors = 16;
  machine.own = 3.5;
  machine.idle = 12;
  EXPECT_DOUBLE_EQ(machine.usable(), 15.5);
  EXPECT_DOUBLE_EQ(machine.free(), 12);
  machine.quota = 4;
  EXPECT_DOUBLE_EQ(machine.usable(), 4);
  EXPECT_DOUBLE_EQ(machine.free(), 0.5);
}

TEST(Machine, WithoutSamplesNothingIsKnownOfIdleProcessors) {
  Machine machine;
  machine.processors = 2;
  EXPECT_DOUBLE_EQ(machine.usable(), 2);
  EXPECT_LT(machine.free(), 0);
}

}  // namespace
}  // namespace mlrun::findings
