// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/mounts.h"

#include <sys/sysmacros.h>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(Mounts, PrefersTheDeviceThenTheLongestPoint) {
  const Mounts mounts(
      "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "2 1 0:30 / /data rw,relatime shared:5 - xfs none rw\n"
      "3 2 8:1 /x /data/inner\\040one rw - ext4 /dev/sda1 rw\n"
      "nonsense\n"
      "4 1 0:31 / /data rw - tmpfs none rw\n");
  ASSERT_NE(mounts.find(0, "/home/x"), nullptr);
  EXPECT_EQ(mounts.find(0, "/home/x")->point, "/");
  EXPECT_EQ(mounts.find(0, "/data/x")->file_system, "tmpfs") << "the later mount hides the earlier one";
  EXPECT_EQ(mounts.find(static_cast<uint32_t>(makedev(0, 30)), "/data/x")->file_system, "xfs");
  EXPECT_EQ(mounts.find(static_cast<uint32_t>(makedev(8, 1)), "/data/inner one/f")->point, "/data/inner one");
  EXPECT_EQ(mounts.find(0, "/database")->point, "/");
  EXPECT_EQ(mounts.find(999, "/data/x")->file_system, "tmpfs") << "a device of no mount: by path";
  EXPECT_EQ(Mounts("").find(0, "/x"), nullptr);
}

}  // namespace
}  // namespace mlrun::trace
