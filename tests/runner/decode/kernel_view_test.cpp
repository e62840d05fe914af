// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/kernel_view.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::decode {
namespace {

template <typename Record>
void append(std::vector<uint64_t>& bytes, uint16_t kind, Record record) {
  record.head.kind = kind;
  record.head.bytes = sizeof record;
  const size_t at = bytes.size();
  bytes.resize(at + sizeof record / sizeof(uint64_t));
  std::memcpy(bytes.data() + at, &record, sizeof record);
}

TEST(KernelReader, PassesOverKindsThatItDoesNotKnow) {
  std::vector<uint64_t> bytes;
  append(bytes, MLRUN_KERNEL_REQUEST, mlrun_block_request{});
  append(bytes, 77, mlrun_wait{});
  append(bytes, MLRUN_KERNEL_FRAGMENT, mlrun_bio_fragment{});
  KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
  std::vector<int> kinds;
  while (reader.next()) kinds.push_back(reader.head().kind);
  EXPECT_EQ(kinds, (std::vector<int>{MLRUN_KERNEL_REQUEST, 77, MLRUN_KERNEL_FRAGMENT}));
  EXPECT_EQ(reader.damaged_bytes(), 0u);
}

TEST(KernelReader, StopsAtALengthThatCannotBe) {
  for (const uint16_t length : {0, 8, 25, 4000}) {
    std::vector<uint64_t> bytes;
    append(bytes, MLRUN_KERNEL_WAIT, mlrun_wait{});
    append(bytes, MLRUN_KERNEL_WAIT, mlrun_wait{});
    std::memcpy(reinterpret_cast<char*>(bytes.data()) + sizeof(mlrun_wait) + 2, &length, sizeof length);
    KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.next()) << length;
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.damaged_bytes(), sizeof(mlrun_wait));
  }
}

TEST(KernelReader, DoesNotReadARecordAsALongerOne) {
  std::vector<uint64_t> bytes;
  append(bytes, MLRUN_KERNEL_FRAGMENT, mlrun_wait{});
  KernelReader reader(bytes.data(), bytes.size() * sizeof(uint64_t));
  ASSERT_TRUE(reader.next());
  mlrun_bio_fragment fragment{};
  EXPECT_FALSE(reader.read(fragment));
}

}  // namespace
}  // namespace mlrun::decode
