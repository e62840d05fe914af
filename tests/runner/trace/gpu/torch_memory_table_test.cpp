// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/torch_memory_table.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

mlrun_torch_memory record(uint32_t probe, uint64_t address, uint64_t device, uint64_t bytes, uint64_t stream) {
  mlrun_torch_memory record{};
  record.probe = probe;
  record.arguments[MLRUN_TORCH_ADDRESS] = address;
  record.arguments[MLRUN_TORCH_DEVICE] = device;
  record.arguments[MLRUN_TORCH_BYTES] = bytes;
  record.arguments[MLRUN_TORCH_STREAM] = stream;
  return record;
}

TEST(TorchMemory, ARowHasTheProbesValues) {
  const auto row = torch_memory_row(record(MLRUN_TORCH_MALLOC, 0x7f0000000000, 1, 512, ~uint64_t{1}));
  ASSERT_TRUE(row.has_value());
  EXPECT_FALSE(row->is_release);
  EXPECT_EQ(row->address, 0x7f0000000000u);
  EXPECT_EQ(row->device, 1);
  EXPECT_EQ(row->bytes, 512);
  EXPECT_EQ(row->stream, -2);
  const auto release = torch_memory_row(record(MLRUN_TORCH_FREE, 4096, 9, 9, 9));
  ASSERT_TRUE(release.has_value());
  EXPECT_TRUE(release->is_release);
  EXPECT_EQ(release->device, -1) << "it tells none";
  EXPECT_EQ(release->bytes, -1);
}

TEST(TorchMemory, NumbersThatCannotBeDoNoHarm) {
  const auto row = torch_memory_row(record(MLRUN_TORCH_MALLOC, ~uint64_t{0}, INT32_MAX, ~uint64_t{0}, 0));
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->device, INT32_MAX);
  EXPECT_EQ(row->bytes, INT64_MAX);
}

TEST(TorchMemory, RecordsOfOtherProbesGiveNoRows) {
  EXPECT_FALSE(torch_memory_row(record(MLRUN_TORCH_MALLOC, 1, ~uint64_t{0}, 1, 0)).has_value()) << "no device is -1";
  EXPECT_FALSE(torch_memory_row(record(MLRUN_TORCH_MALLOC, 1, uint64_t{1} << 40, 1, 0)).has_value());
  EXPECT_FALSE(torch_memory_row(record(0, 1, 1, 1, 1)).has_value());
  EXPECT_FALSE(torch_memory_row(record(77, 1, 1, 1, 1)).has_value());
}

}  // namespace
}  // namespace mlrun::trace
