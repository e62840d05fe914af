// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/gpu_event_view.h"

#include <gtest/gtest.h>

#include "tests/runner/decode/only_record.h"

namespace mlrun::decode {
namespace {

using testing::RecordBuffer;

TEST(GpuEventView, DecodesACallOfCuda) {
  RecordBuffer records;
  records.add_record(
      MLRUN_GPU_API, 7,
      {0, 99, 1000 << 8, 1500, uint64_t{211 | MLRUN_GPU_RUNTIME << 24} << 32, uint64_t{700} << 32 | 4242, 0, 77});
  const auto call = only<GpuWorkEvent>(records);
  EXPECT_EQ(call.kind, MLRUN_GPU_API);
  EXPECT_EQ(call.correlation, 7u);
  EXPECT_EQ(call.start_ns, 1000u);
  EXPECT_EQ(call.end_ns, 1500u);
  EXPECT_EQ(call.detail & 0xffffff, 211u);
  EXPECT_EQ(call.detail >> 24, uint32_t{MLRUN_GPU_RUNTIME});
  EXPECT_EQ(call.tid, 4242u);
  EXPECT_EQ(call.result, 700u);
  EXPECT_EQ(call.name, 77u);
}

TEST(GpuEventView, DecodesAKernel) {
  RecordBuffer records;
  records.add_record(
      MLRUN_GPU_KERNEL, 8,
      {0, 99, 1000 << 8, 1500, uint64_t{3} << 8 | uint64_t{MLRUN_GPU_CLOCK_REALTIME} << 24 | uint64_t{40} << 32, 55,
       uint64_t{1} << 8, 7 | uint64_t{9} << 32, uint64_t{0x7fffffff} << 8 | uint64_t{1024} << 40,
       65535 | uint64_t{2} << 32, uint64_t{3} << 8 | uint64_t{4} << 24, 77, uint64_t{48000} << 8,
       1024 | uint64_t{16} << 32});
  const auto kernel = only<GpuWorkEvent>(records);
  EXPECT_EQ(kernel.device, 3u);
  EXPECT_EQ(kernel.clock, uint32_t{MLRUN_GPU_CLOCK_REALTIME});
  EXPECT_EQ(kernel.detail, 40u) << "registers";
  EXPECT_EQ(kernel.graph_node, 55u);
  EXPECT_EQ(kernel.context, 1u);
  EXPECT_EQ(kernel.stream, 7u);
  EXPECT_EQ(kernel.graph, 9u);
  EXPECT_EQ(kernel.grid[0], 0x7fffffffu);
  EXPECT_EQ(kernel.grid[1], 65535u);
  EXPECT_EQ(kernel.grid[2], 2u);
  EXPECT_EQ(kernel.block[0], 1024u);
  EXPECT_EQ(kernel.block[1], 3u);
  EXPECT_EQ(kernel.block[2], 4u);
  EXPECT_EQ(kernel.name, 77u);
  EXPECT_EQ(kernel.static_shared, 48000u);
  EXPECT_EQ(kernel.dynamic_shared, 1024u);
  EXPECT_EQ(kernel.local_bytes, 16u);
}

TEST(GpuEventView, DecodesACopyBetweenDevices) {
  RecordBuffer records;
  records.add_record(MLRUN_GPU_MEMCPY, 8,
                     {0, 99, 1000 << 8, 1500, uint64_t{10} << 32, 4096, 0, 0,
                      uint64_t{1} << 8 | uint64_t{2} << 24 | uint64_t{1} << 40, 5});
  const auto copy = only<GpuWorkEvent>(records);
  EXPECT_TRUE(copy.between_devices);
  EXPECT_EQ(copy.source_device, 1u);
  EXPECT_EQ(copy.target_device, 2u);
  EXPECT_EQ(copy.bytes, 4096u);
  EXPECT_EQ(copy.graph_node, 5u);
}

TEST(GpuEventView, DecodesADeviceAndANote) {
  RecordBuffer device_record;
  device_record.add_record(
      MLRUN_GPU_DEVICE, 2,
      {0, 99, uint64_t{132} << 8 | uint64_t{0x900} << 40, 80, 1 << 8, 11, 0, 12, 0, 77, 0, 13, 0, 14});
  const auto device = only<GpuDeviceEvent>(device_record);
  EXPECT_EQ(device.number, 2u);
  EXPECT_EQ(device.multiprocessors, 132u);
  EXPECT_EQ(device.capability, 0x900u);
  EXPECT_TRUE(device.is_mig);
  EXPECT_EQ(device.uuid[1], 12u);
  EXPECT_EQ(device.mig_uuid[0], 13u);

  RecordBuffer note_record;
  note_record.add_record(MLRUN_GPU_NOTE, MLRUN_GPU_DROPPED, {0, 99, 39 << 8, 12, 1000 << 8, 2000, 0, 77});
  const auto note = only<GpuNoteEvent>(note_record);
  EXPECT_EQ(note.note, uint32_t{MLRUN_GPU_DROPPED});
  EXPECT_EQ(note.code, 39u);
  EXPECT_EQ(note.count, 12u);
  EXPECT_EQ(note.first_ns, 1000u);
  EXPECT_EQ(note.last_ns, 2000u);
  EXPECT_EQ(note.text, 77u);
}

TEST(GpuEventView, ReadsAllocations) {
  RecordBuffer records;
  records.add_record(MLRUN_GPU_MEMORY, 9,
                     {0, 99, 1000 << 8, 1000, uint64_t{3} << 8 | uint64_t{0x01010301} << 32, 4096, 2 << 8, 7, 512 << 8,
                      0x7f0000000000, 64 << 8, 0x7e0000000000});
  const auto work = only<GpuWorkEvent>(records);
  EXPECT_EQ(work.correlation, 9u);
  EXPECT_EQ(work.start_ns, 1000u);
  EXPECT_EQ(work.end_ns, 1000u);
  EXPECT_EQ(work.device, 3u);
  EXPECT_EQ(work.detail, 0x01010301u);
  EXPECT_EQ(work.bytes, 4096u);
  EXPECT_EQ(work.context, 2u);
  EXPECT_EQ(work.stream, 7u);
  EXPECT_EQ(work.address, 0x7f0000000000u);
  EXPECT_EQ(work.pool, 0x7e0000000000u);
  EXPECT_EQ(work.pool_bytes, 512u);
  EXPECT_EQ(work.pool_used, 64u);
}

TEST(GpuEventView, ReadsTheAllocatingCall) {
  RecordBuffer records;
  records.add_record(MLRUN_GPU_MEMORY, 9,
                     {0, 99, 1000 << 8, 1000, uint64_t{0x0301} << 32, 4096, 0, 7, 0, 0x7f0000000000, 0, 0, 0, 0x55aa});
  EXPECT_EQ(only<GpuWorkEvent>(records).site, 0x55aau);
  RecordBuffer caller_record;
  caller_record.add_record(MLRUN_GPU_CALLER, 0, {0, 99, 900 << 8, 1100, 0, 0x7f0000000000, 0, 77});
  const auto caller = only<GpuWorkEvent>(caller_record);
  EXPECT_EQ(caller.start_ns, 900u);
  EXPECT_EQ(caller.end_ns, 1100u);
  EXPECT_EQ(caller.address, 0x7f0000000000u);
  EXPECT_EQ(caller.stack, 77u);
}

TEST(GpuEventView, ReadsTheHostBufferOfACopy) {
  RecordBuffer records;
  records.add_record(MLRUN_GPU_HOST, 0,
                     {0, 99, 900 << 8, 1100, uint64_t{9 | 200 << 8 | 14 << 16 | 1 << 24} << 32, 0x1000, 36000 << 8,
                      0x7f0000000000, 0x07060504030201 << 8, 0x0908});
  RecordReader reader(records.words().data(), records.bytes(), records.lap());
  ASSERT_TRUE(reader.next());
  GpuHostEvent host;
  ASSERT_TRUE(decode(reader.record(), host));
  EXPECT_EQ(host.start_ns, 900u);
  EXPECT_EQ(host.end_ns, 1100u);
  EXPECT_EQ(host.source, 0x1000u);
  EXPECT_EQ(host.target, 0x7f0000000000u);
  EXPECT_EQ(host.bytes, 36000u);
  EXPECT_EQ(host.asked, 9u);
  EXPECT_EQ(host.phase, 200u);
  EXPECT_EQ(host.error, 14u);
  EXPECT_TRUE(host.of_target);
  for (int i = 0; i < 9; i++) EXPECT_EQ(host.nodes[i], i == 7 ? 8 : i == 8 ? 9 : i + 1) << i;
  GpuWorkEvent work;
  EXPECT_FALSE(decode(reader.record(), work)) << "it is no work of its own";
}

TEST(GpuEventView, RefusesRecordsThatAreTooShort) {
  for (const uint16_t kind : {MLRUN_GPU_API, MLRUN_GPU_KERNEL, MLRUN_GPU_MEMCPY, MLRUN_GPU_MEMSET, MLRUN_GPU_SYNC,
                              MLRUN_GPU_MEMORY, MLRUN_GPU_CALLER}) {
    RecordBuffer records;
    records.add_record(kind, 1, {0, 99, 0, 0, 0, 0});
    RecordReader reader(records.words().data(), records.bytes(), records.lap());
    GpuWorkEvent work;
    uint64_t end_ns = 0;
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(class_of(reader.record().kind), EventClass::kGpuWork);
    EXPECT_FALSE(decode(reader.record(), work)) << kind;
    EXPECT_FALSE(gpu_end_ns(reader.record(), end_ns)) << kind;
  }
}

}  // namespace
}  // namespace mlrun::decode
