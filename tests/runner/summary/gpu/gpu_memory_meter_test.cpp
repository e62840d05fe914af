// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_memory_meter.h"

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

constexpr uint32_t kAllocation = 1, kRelease = 2, kDevice = 3, kPinned = 2;

model::GpuWorkRow row(uint32_t operation, uint64_t address, int64_t bytes, int64_t ts_ns, uint32_t memory = kDevice) {
  model::GpuWorkRow row;
  row.kind = model::GpuKind::kMemory;
  row.origin.proc_id = 1;
  row.origin.ts_ns = ts_ns;
  row.gpu_id = 1;
  row.address = address;
  row.bytes = bytes;
  row.detail = operation | memory << 8;
  return row;
}

model::TraceInfo process_until(int64_t last_ns) {
  model::TraceInfo info;
  model::ProcessRow& process = info.processes.emplace_back();
  process.proc_id = 1;
  process.last_ns = last_ns;
  return info;
}

// Seen from outside: a call that took some time.
model::GpuWorkRow call(uint32_t operation, uint64_t address, int64_t bytes, int64_t ts_ns, int64_t dur_ns,
                       uint32_t context = 0) {
  model::GpuWorkRow of = row(operation, address, bytes, ts_ns);
  of.dur_ns = dur_ns;
  of.context = context;
  of.is_of_uprobe = true;
  return of;
}

TEST(GpuMemoryMeter, GroupsWhatIsKeptByTheStackOfEachBlock) {
  GpuMemoryMeter meter;
  model::TraceInfo info = process_until(1000);
  info.stacks.files.push_back({"/lib/libm.so", ""});
  info.stacks.frames.resize(2);
  info.stacks.frames[0].function = "leak";
  info.stacks.frames[0].file = 1;
  info.stacks.frames[1].offset = 0x10;
  info.stacks.stacks = {{0, 2, 0}, {1, 1, 0}};
  info.stacks.frame_ids = {1, 2};
  const auto allocate = [&](uint64_t address, int64_t bytes, int64_t ts_ns, int32_t stack_id) {
    model::GpuWorkRow of = row(kAllocation, address, bytes, ts_ns);
    of.stack_id = stack_id;
    meter.add(of);
  };
  allocate(0x1000, 100, 0, 1);
  allocate(0x2000, 200, 10, 2);
  allocate(0x3000, 300, 20, 2);
  allocate(0x4000, 100, 900, 1);
  allocate(0x5000, 50, 30, 0);
  meter.add(row(kRelease, 0x3000, 300, 40));
  allocate(0x2000, 210, 50, 1);  // the address again: the block is the last one's
  const auto stacks = meter.stacks(info);
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].stack_id, 1);
  EXPECT_EQ(stacks[0].blocks, 3);
  EXPECT_EQ(stacks[0].bytes, 410);
  EXPECT_EQ(stacks[0].late, 1);
  EXPECT_EQ(stacks[0].late_bytes, 100);
  EXPECT_EQ(stacks[0].frames, "leak (libm.so) < code made at run time");
  EXPECT_EQ(stacks[1].stack_id, 0);
  EXPECT_EQ(stacks[1].blocks, 1);
  EXPECT_EQ(stacks[1].frames, "");
}

TEST(GpuMemoryMeter, ContextsSeenFromOutsideCountByThemselves) {
  GpuMemoryMeter meter;
  meter.add(call(kAllocation, 0x1000, 100, 0, 5, 1));
  meter.add(call(kAllocation, 0x2000, 50, 10, 5, 2));
  model::GpuWorkRow end = call(kRelease, 0x1000, 100, 20, 5, 1);
  end.is_with_context = true;
  meter.add(end);
  model::TraceInfo info = process_until(1000);
  info.processes[0].ended = true;
  const auto sums = meter.finish(info);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].context, 1);
  EXPECT_EQ(sums[0].with_context, 1);
  EXPECT_EQ(sums[0].with_context_bytes, 100);
  EXPECT_EQ(sums[0].kept, 0);
  EXPECT_EQ(sums[1].context, 2);
  EXPECT_EQ(sums[1].kept, 1);
  EXPECT_EQ(sums[1].at_exit_bytes, 50);
}

TEST(GpuMemoryMeter, AnAddressReusedBeforeItsReleaseReturnsBelongsToItsNewBlock) {
  GpuMemoryMeter meter;
  meter.add(call(kAllocation, 0x1000, 100, 0, 5));
  meter.add(call(kAllocation, 0x1000, 70, 30, 5));
  meter.add(call(kRelease, 0x1000, 100, 20, 20));
  const auto sums = meter.finish(process_until(1000));
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].releases, 1);
  EXPECT_EQ(sums[0].unseen_releases, 0);
  EXPECT_EQ(sums[0].kept_bytes, 70);
  EXPECT_EQ(sums[0].peak_bytes, 100);
}

TEST(GpuMemoryMeter, AHandleIsNotAnAddress) {
  GpuMemoryMeter meter;
  model::GpuWorkRow handle = call(kAllocation, 7, 100, 0, 5);
  handle.is_handle = true;
  meter.add(handle);
  meter.add(call(kAllocation, 7, 30, 10, 5));
  meter.add(call(kRelease, 7, 30, 20, 5));
  EXPECT_EQ(meter.finish(process_until(1000))[0].kept_bytes, 100);
}

TEST(GpuMemoryMeter, ReportsThePeakAndWhatWasKept) {
  GpuMemoryMeter meter;
  meter.add(row(kAllocation, 0x1000, 100, 0));
  meter.add(row(kAllocation, 0x2000, 50, 10));
  meter.add(row(kRelease, 0x1000, 0, 20));
  meter.add(row(kAllocation, 0x3000, 70, 900));
  meter.add(row(kAllocation, 0x9000, 8, 900, kPinned));
  const auto sums = meter.finish(process_until(1000));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].memory, "pinned");
  const GpuMemorySummary& device = sums[1];
  EXPECT_EQ(device.memory, "device");
  EXPECT_EQ(device.peak_bytes, 150);
  EXPECT_EQ(device.allocations, 3);
  EXPECT_EQ(device.allocated_bytes, 220);
  EXPECT_EQ(device.releases, 1);
  EXPECT_EQ(device.kept, 2);
  EXPECT_EQ(device.kept_bytes, 120);
  EXPECT_EQ(device.kept_late, 1);
  EXPECT_EQ(device.kept_late_bytes, 70);
}

TEST(GpuMemoryMeter, CountsReleasesThatDoNotFit) {
  GpuMemoryMeter meter;
  meter.add(row(kRelease, 0x5000, 10, 0));
  meter.add(row(kAllocation, 0x1000, 100, 1));
  meter.add(row(kAllocation, 0x1000, 30, 2));
  const auto sums = meter.finish({});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].unmatched_releases, 1);
  EXPECT_EQ(sums[0].unseen_releases, 1);
  EXPECT_EQ(sums[0].peak_bytes, 100);
  EXPECT_EQ(sums[0].kept_bytes, 30);
}

TEST(GpuMemoryMeter, SumsOfImpossibleSizesSaturate) {
  GpuMemoryMeter meter;
  for (const uint64_t address : {1, 2, 3}) meter.add(row(kAllocation, address, INT64_MAX, 0));
  for (const uint64_t address : {1, 2}) meter.add(row(kRelease, address, 0, 1));
  const auto sums = meter.finish({});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].allocated_bytes, INT64_MAX);
  EXPECT_EQ(sums[0].peak_bytes, INT64_MAX);
  EXPECT_EQ(sums[0].kept_bytes, INT64_MAX);
}

TEST(GpuMemoryMeter, FollowsABoundedNumberOfAllocations) {
  GpuMemoryMeter meter;
  for (uint64_t i = 0; i < GpuMemoryMeter::kFollowedMax + 5; ++i) meter.add(row(kAllocation, 0x1000 + i, 1, 0));
  const auto sums = meter.finish({});
  EXPECT_EQ(sums[0].not_followed, 5);
  EXPECT_EQ(sums[0].kept, int64_t{GpuMemoryMeter::kFollowedMax});
}

}  // namespace
}  // namespace mlrun::summary
