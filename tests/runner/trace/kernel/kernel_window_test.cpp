// SPDX-License-Identifier: Apache-2.0
// Tests the kernel side's records in memory: their limit, and that evicted ones are counted.
#include "runner/trace/kernel/kernel_window.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "runner/decode/limits.h"

namespace mlrun::trace {
namespace {

using decode::kWindowFragmentsMax;

TEST(KernelWindow, DropsTheOldestAndReportsIt) {
  KernelWindow window;
  constexpr uint64_t kMany = decode::kWindowWaitsMax + 1;
  for (uint64_t i = 1; i <= kMany; ++i) {
    mlrun_wait record{};
    record.head.tid = static_cast<uint32_t>(i % 7);
    record.head.time_ns = 10 * i + 5;
    record.off_ns = 10 * i;
    window.add(record);
  }
  EXPECT_FALSE(window.knows(10, 20));
  EXPECT_TRUE(window.knows(static_cast<int64_t>(10 * kMany) - 10, static_cast<int64_t>(10 * kMany)));
  size_t found = 0;
  window.waits(kMany % 7, 0, INT64_MAX, [&](const ThreadWait&) { ++found; });
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(kMany) / 2 / 7, 2);
}

TEST(KernelWindow, DropsTheOldestFileOperationsAndReportsIt) {
  KernelWindow window;
  constexpr uint64_t kMany = decode::kWindowFileOpsMax + 1;
  for (uint64_t i = 1; i <= kMany; ++i) {
    mlrun_file_op record{};
    record.head.tid = static_cast<uint32_t>(i % 7);
    record.head.time_ns = 10 * i + 5;
    record.begin_ns = 10 * i;
    window.add(record);
  }
  EXPECT_FALSE(window.knows(10, 20));
  EXPECT_TRUE(window.knows(static_cast<int64_t>(10 * kMany) - 10, static_cast<int64_t>(10 * kMany)));
  size_t found = 0;
  window.file_ops(kMany % 7, 0, INT64_MAX, [&](const FileOpSpan&) { ++found; });
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(kMany) / 2 / 7, 2);
}

mlrun_bio_fragment read_until(uint64_t done_ns) {
  mlrun_bio_fragment record{};
  record.head.tid = 7;
  record.head.time_ns = done_ns;
  record.queued_at_ns = done_ns - 5;
  record.inode = 12;
  return record;
}

size_t fragments_of_thread(const KernelWindow& window) {
  const FragmentList* list = window.of_thread(7);
  size_t count = 0;
  if (list != nullptr) list->for_each([&](const FragmentSpan&) { ++count; });
  return count;
}

TEST(KernelWindow, DropsTheOldestFragmentsAndReportsIt) {
  KernelWindow window;
  constexpr uint64_t kMany = kWindowFragmentsMax / 2 + 1;  // each in the list of its thread and in that of its file
  for (uint64_t i = 1; i <= kMany; ++i) window.add(read_until(10 * i));
  EXPECT_FALSE(window.knows(10, 20));
  EXPECT_TRUE(window.knows(static_cast<int64_t>(10 * kMany) - 10, static_cast<int64_t>(10 * kMany)));
  EXPECT_NEAR(static_cast<double>(fragments_of_thread(window)), static_cast<double>(kMany) / 2, 2);
}

TEST(KernelWindow, IsBoundedEvenIfAllFragmentsEndAtOneMoment) {
  KernelWindow window;
  size_t most = 0;
  for (uint64_t i = 0; i < kWindowFragmentsMax + 10; ++i) {
    window.add(read_until(1000));
    if (i % 1024 == 0) most = std::max(most, fragments_of_thread(window));
  }
  EXPECT_LE(most, kWindowFragmentsMax / 2);
  EXPECT_FALSE(window.knows(1000, 1010));
  EXPECT_TRUE(window.knows(1001, 1010));
}

TEST(KernelWindow, HoldsNoMoreRequestsThanFragmentsAndForgetsTheOldest) {
  KernelWindow window;
  for (uint64_t i = 1; i <= kWindowFragmentsMax + 1; ++i) {
    mlrun_block_request record{};
    record.request = i;
    record.head.time_ns = 10 * i;
    window.add(record);
  }
  EXPECT_EQ(window.request(1), nullptr);
  EXPECT_NE(window.request(kWindowFragmentsMax + 1), nullptr);
}

}  // namespace
}  // namespace mlrun::trace
