// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/block_status.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

TEST(BlockErrno, ReadsBothEncodings) {
  EXPECT_EQ(block_errno(0), 0);
  EXPECT_EQ(block_errno(-ENOSPC), ENOSPC);
  EXPECT_EQ(block_errno(10), EIO);
  EXPECT_EQ(block_errno(200), EIO);
}

}  // namespace
}  // namespace mlrun::trace
