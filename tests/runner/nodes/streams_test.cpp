// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/streams.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace mlrun::nodes {
namespace {

// Joined calls begin no later and end no earlier than the one that moved the byte, wherever neighbours are joined.
TEST(Transfers, BoundEachByteByTheCallThatMovedIt) {
  for (const size_t most : {64, 65, 97, 4096}) {
    Transfers transfers;
    transfers.most = most;
    constexpr int64_t kCalls = 10'000, kBytes = 3;
    for (int64_t i = 0; i < kCalls; ++i) transfers.add(i * 10, i * 10 + 5, kBytes);
    EXPECT_LE(transfers.list.size(), most);
    EXPECT_EQ(transfers.bytes, kCalls * kBytes);
    for (int64_t byte = 1; byte <= kCalls * kBytes; ++byte) {
      const int64_t call = (byte - 1) / kBytes;
      const auto at = std::partition_point(transfers.list.begin(), transfers.list.end(),
                                           [&](const Transfers::One& one) { return one.bytes_after < byte; });
      ASSERT_NE(at, transfers.list.end()) << byte;
      ASSERT_LE(at->start_ns, call * 10) << most << " " << byte;
      ASSERT_GE(at->end_ns, call * 10 + 5) << most << " " << byte;
    }
  }
}

}  // namespace
}  // namespace mlrun::nodes
