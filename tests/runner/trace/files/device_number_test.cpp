// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/device_number.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(DeviceNumber, IsAsStatHasIt) {
  EXPECT_EQ(stat_device(254u << 20), 254 << 8);
  EXPECT_EQ(stat_device(259u << 20 | 300), 300 % 256 | 259 << 8 | 256 << 12);
}

}  // namespace
}  // namespace mlrun::trace
