// SPDX-License-Identifier: Apache-2.0
// Tests GPU work in the merge: it is joined to its call wherever it is in the spool, has its own times, and losses are
// counted.
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::kStartNs;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;
using Numbers = TraceFolder::Numbers;
using Texts = std::vector<std::string>;

SpoolWriter empty_spool() {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  spool.add_channel({.serial = 1, .tid = 100});
  spool.add_channel({.serial = 2, .tid = 101});
  return spool;
}

// Times in microseconds since the start.
struct Work {
  uint32_t correlation = 0;
  uint64_t start = 0, end = 0;
  uint32_t tid = 100;
  mlrun_gpu_clock clock = MLRUN_GPU_CLOCK_MONOTONIC;
};

uint64_t at(uint64_t us) { return kStartNs + us * 1000; }

void add_call(RecordBuffer& records, const Work& work, mlrun_gpu_api api, uint64_t name) {
  records.add_record(MLRUN_GPU_API, work.correlation,
                     {0, ticks_at(900 * kMillisecond), at(work.start) << 8, at(work.end),
                      uint64_t{static_cast<uint32_t>(api)} << 56, work.tid, 0, name});
}

void add_kernel(RecordBuffer& records, const Work& work, uint64_t name) {
  records.add_record(
      MLRUN_GPU_KERNEL, work.correlation,
      {0, ticks_at(900 * kMillisecond), at(work.start) << 8, at(work.end),
       uint64_t{1} << 8 | uint64_t{static_cast<uint32_t>(work.clock)} << 24, 0, 0, 7, 0, 0, 0, name, 0, 0});
}

void add_device(RecordBuffer& records, uint64_t name) {
  records.add_record(MLRUN_GPU_DEVICE, 1,
                     {0, 1, 0, 80, 0, 0x0706050403020100, 0, 0x0f0e0d0c0b0a0908, 0, name, 0, 0, 0, 0});
}

void add_note(RecordBuffer& records, mlrun_gpu_note note, uint64_t code, uint64_t count, uint64_t last_us) {
  records.add_record(MLRUN_GPU_NOTE, note, {0, 1, code << 8, count, 0, at(last_us), 0, 0});
}

summary::Summary merged(const TraceFolder& folder, const SpoolWriter& spool) {
  auto summary = folder.merge(spool);
  EXPECT_TRUE(summary) << summary.error().text;
  return summary ? *std::move(summary) : summary::Summary{};
}

TEST(GpuWork, BelongsToItsCallAcrossChannelsAndInAnyOrder) {
  SpoolWriter spool = empty_spool();
  RecordBuffer gpu, calls;
  const uint64_t kernel = gpu.add_string("_Z1kPf"), launch = calls.add_string("cudaLaunchKernel");
  add_kernel(gpu, {.correlation = 7, .start = 50, .end = 80}, kernel);
  spool.add_data(2, gpu);
  add_call(calls, {.correlation = 7, .start = 10, .end = 90, .tid = 101}, MLRUN_GPU_RUNTIME, launch);
  spool.add_data(1, calls);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_kernel", "ts"), Numbers{static_cast<int64_t>(at(50))});
  EXPECT_EQ(folder.numbers("gpu_kernel", "dur"), Numbers{30'000});
  EXPECT_EQ(folder.numbers("gpu_kernel", "tid"), Numbers{101}) << "the call's thread, not the one that told";
  EXPECT_EQ(folder.numbers("gpu_kernel", "thread_id"), folder.numbers("gpu_api", "thread_id"));
  EXPECT_EQ(folder.texts("gpu_api", "func"), Texts{"cudaLaunchKernel"});
  ASSERT_EQ(summary.gpu_kernels.size(), 1u);
  EXPECT_EQ(summary.gpu_kernels[0].name, "k(float*)");
}

TEST(GpuWork, OfANestedDriverCallBelongsToTheOuterCall) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const uint64_t outer = records.add_string("cudaLaunchKernel"), inner = records.add_string("cuLaunchKernel");
  add_call(records, {.correlation = 2, .start = 12, .end = 18}, MLRUN_GPU_DRIVER, inner);
  add_call(records, {.correlation = 1, .start = 10, .end = 20}, MLRUN_GPU_RUNTIME, outer);
  add_call(records, {.correlation = 3, .start = 30, .end = 40}, MLRUN_GPU_DRIVER, inner);
  add_call(records, {.correlation = 4, .start = 50, .end = 60}, MLRUN_GPU_RUNTIME, outer);
  add_call(records, {.correlation = 5, .start = 53, .end = 55, .tid = 101}, MLRUN_GPU_DRIVER, inner);
  spool.add_data(1, records);
  const TraceFolder folder;
  merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_api", "correlation_id"), (Numbers{1, 3, 4, 5}));
  EXPECT_EQ(folder.run()["gpu_work"]["nested_calls"], 1);
}

TEST(GpuWork, BelongsToItsCallWhereCorrelationIdsRestart) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const uint64_t launch = records.add_string("cudaLaunchKernel");
  uint64_t us = 10;
  uint32_t tid = 100;
  for (const uint32_t correlation : {0xfffffffeu, 0xffffffffu, 1u, 2u}) {
    add_call(records, {.correlation = correlation, .start = us, .end = us + 2, .tid = tid}, MLRUN_GPU_RUNTIME, launch);
    add_kernel(records, {.correlation = correlation, .start = us + 3, .end = us + 5}, 0);
    spool.add_data(1, records);
    records.clear();
    us += 100'000;
    tid = tid == 100 ? 101 : 100;
  }
  const TraceFolder folder;
  merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_kernel", "correlation_id"), (Numbers{0xfffffffe, 0xffffffff, 1, 2}));
  EXPECT_EQ(folder.numbers("gpu_kernel", "tid"), (Numbers{100, 101, 100, 101}));
  EXPECT_EQ(folder.run()["gpu_work"]["without_call"], 0);
}

TEST(GpuWork, WithoutItsCallHasNoThread) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  add_kernel(records, {.correlation = 7, .start = 50, .end = 80}, 0);
  add_kernel(records, {.correlation = 0, .start = 90, .end = 95}, 0);
  spool.add_data(1, records);
  const TraceFolder folder;
  merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_kernel", "thread_id"), (Numbers{std::nullopt, std::nullopt}));
  EXPECT_EQ(folder.numbers("gpu_kernel", "name_id"), (Numbers{std::nullopt, std::nullopt}));
  EXPECT_EQ(folder.run()["gpu_work"]["without_call"], 2);
}

TEST(GpuWork, IsBusyTimeOfItsDeviceOnce) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  add_device(records, records.add_string("H200"));
  add_kernel(records, {.correlation = 1, .start = 10, .end = 30}, 0);
  add_kernel(records, {.correlation = 2, .start = 20, .end = 40}, 0);
  add_kernel(records, {.correlation = 3, .start = 50, .end = 60}, 0);
  add_note(records, MLRUN_GPU_STARTED, 130000, 0, 1);
  add_note(records, MLRUN_GPU_ENDED, 0, 0, 99);
  spool.add_data(1, records);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  ASSERT_EQ(summary.gpu_work.size(), 1u);
  EXPECT_EQ(summary.gpu_work[0].name, "H200");
  EXPECT_EQ(summary.gpu_work[0].uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(summary.gpu_work[0].busy_ns, 40'000);
  EXPECT_EQ(summary.gpu_work[0].kernel_ns, 50'000);
  EXPECT_TRUE(summary.losses.empty());
}

TEST(GpuWork, LossesAndWrongTimesAreReported) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  add_note(records, MLRUN_GPU_STARTED, 130000, 0, 1);
  add_note(records, MLRUN_GPU_DROPPED, 0, 12, 0);
  add_note(records, MLRUN_GPU_OVERHEAD, 1 << 16, 0, 0);
  add_note(records, MLRUN_GPU_FLUSHED, 0, 0, 500);
  add_kernel(records, {.correlation = 1, .start = 10, .end = 10, .clock = MLRUN_GPU_CLOCK_NONE}, 0);
  add_kernel(records, {.correlation = 2, .start = 20, .end = 30, .clock = MLRUN_GPU_CLOCK_REALTIME}, 0);
  spool.add_data(1, records);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  Texts reasons;
  for (const auto& loss : summary.losses) reasons.push_back(loss.reason);
  EXPECT_EQ(reasons, (Texts{"CUPTI gave none", "dropped by CUPTI for want of room", "CUPTI's own work: buffer flush",
                            "what CUPTI held when the process was killed or CUPTI did not answer at the end"}));
  EXPECT_EQ(folder.run()["totals"]["losses"], 3) << "CUPTI's own work is no loss";
  EXPECT_EQ(folder.texts("gpu_kernel", "clock"), (Texts{"none", "realtime"}));
}

TEST(GpuWork, OfAllocationsAndWholeGraphsBelongsToTheirCalls) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const uint64_t allocate = records.add_string("cudaMalloc"), launch = records.add_string("cudaGraphLaunch");
  add_call(records, {.correlation = 1, .start = 10, .end = 20, .tid = 101}, MLRUN_GPU_RUNTIME, allocate);
  add_call(records, {.correlation = 2, .start = 30, .end = 40, .tid = 101}, MLRUN_GPU_RUNTIME, launch);
  constexpr uint64_t kDevice = uint64_t{0x0301} << 32;  // an allocation of the device's memory
  for (const uint64_t address : {0x1000, 0x2000}) {
    records.add_record(MLRUN_GPU_MEMORY, 1,
                       {0, 1, at(15) << 8, at(15), kDevice, 4096, 1 << 8, UINT32_MAX, 0, address, 0, 0});
  }
  records.add_record(MLRUN_GPU_GRAPH, 2, {0, 1, at(50) << 8, at(90), 0, 0, 1 << 8, 7 | uint64_t{5} << 32});
  constexpr uint64_t kNodes = uint64_t{12} << 32, kBusy = 7000;
  records.add_record(MLRUN_GPU_GRAPH, 2, {0, 1, at(60) << 8, at(95), kNodes, kBusy, 1 << 8, 7 | uint64_t{6} << 32});
  spool.add_data(1, records);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_memory", "tid"), (Numbers{101, 101}));
  EXPECT_EQ(folder.numbers("gpu_memory", "stream"), (Numbers{std::nullopt, std::nullopt}));
  EXPECT_EQ(folder.texts("gpu_memory", "operation"), (Texts{"allocation", "allocation"}));
  EXPECT_EQ(folder.numbers("gpu_graph", "tid"), (Numbers{101, 101}));
  EXPECT_EQ(folder.numbers("gpu_graph", "graph_id"), (Numbers{5, 6}));
  EXPECT_EQ(folder.numbers("gpu_graph", "nodes"), (Numbers{std::nullopt, 12}));
  EXPECT_EQ(folder.numbers("gpu_graph", "busy_ns"), (Numbers{std::nullopt, 7000}));
  EXPECT_EQ(folder.run()["gpu_work"]["folded_nodes"], 12);
  ASSERT_EQ(summary.gpu_memory.size(), 1u);
  EXPECT_EQ(summary.gpu_memory[0].peak_bytes, 8192);
  EXPECT_EQ(summary.gpu_memory[0].kept, 2);
  ASSERT_EQ(summary.gpu_work.size(), 1u);
  EXPECT_EQ(summary.gpu_work[0].busy_ns, 45'000);
  EXPECT_EQ(summary.gpu_work[0].graphs, 2);
}

TEST(GpuWork, OfAnAllocationHasTheStackOfTheCallAroundIt) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  const uint64_t allocate = records.add_string("cudaMalloc");
  constexpr uint64_t kAllocation = uint64_t{0x0301} << 32, kRelease = uint64_t{0x0302} << 32, kSite = 0x5555777;
  for (const uint64_t stack : {11, 12}) {  // one frame each, of code made at run time
    records.add_record(MLRUN_STACK, 1 | MLRUN_STACK_UNKNOWN_CODE << 8, {0, stack, (0x5555000 + stack) << 8, 0});
  }
  const auto memory = [&](uint32_t correlation, uint64_t us, uint64_t detail, uint64_t address, uint64_t site) {
    records.add_record(MLRUN_GPU_MEMORY, correlation,
                       {0, 1, at(us) << 8, at(us), detail, 4096, 1 << 8, UINT32_MAX, 0, address, 0, 0, 0, site});
  };
  const auto caller = [&](uint64_t start, uint64_t end, uint64_t address, uint64_t stack) {
    records.add_record(MLRUN_GPU_CALLER, 0, {0, 1, at(start) << 8, at(end), 0, address, 0, stack});
  };
  add_call(records, {.correlation = 1, .start = 10, .end = 20}, MLRUN_GPU_RUNTIME, allocate);
  memory(1, 15, kAllocation, 0x1000, kSite);
  caller(9, 21, 0x1000, 11);
  memory(0, 25, kRelease, 0x1000, 0);
  add_call(records, {.correlation = 2, .start = 30, .end = 40}, MLRUN_GPU_RUNTIME, allocate);
  memory(2, 35, kAllocation, 0x1000, kSite);  // the address again
  caller(29, 41, 0x1000, 12);
  caller(29, 41, 0x2000, 11);  // meanwhile, another block of another thread
  memory(0, 50, kAllocation, 0x3000, kSite);
  spool.add_data(1, records);
  const TraceFolder folder;
  merged(folder, spool);
  const Numbers stacks = folder.numbers("gpu_memory", "stack_id");
  EXPECT_EQ(stacks, (Numbers{1, std::nullopt, 2, std::nullopt}));
  EXPECT_EQ(folder.numbers("gpu_memory", "site"),
            (Numbers{0x5555000 + 11, std::nullopt, 0x5555000 + 12, int64_t{kSite}}));
}

// A copy of CUPTI's kind 1, to the device, or 2, from it.
void add_copy(RecordBuffer& records, const Work& work, uint64_t kind, uint64_t bytes) {
  const uint64_t memories = kind == 1 ? 1 << 8 | 3 << 16 : 3 << 8 | 2 << 16;
  records.add_record(
      MLRUN_GPU_MEMCPY, work.correlation,
      {0, 1, at(work.start) << 8, at(work.end), uint64_t{1} << 8 | (kind | memories) << 32, bytes, 0, 7, 0, 0});
}

struct HostPages {
  uint64_t source = 0, target = 0, bytes = 0;
  std::vector<uint8_t> nodes;
  bool of_target = false;
};

void add_host(RecordBuffer& records, uint64_t start_us, uint64_t end_us, const HostPages& pages) {
  std::array<uint64_t, 2> nodes{};
  for (size_t i = 0; i < pages.nodes.size(); ++i) {
    nodes[i < 7 ? 0 : 1] |= uint64_t{pages.nodes[i]} << (i < 7 ? 8 + 8 * i : 8 * (i - 7));
  }
  records.add_record(MLRUN_GPU_HOST, 0,
                     {0, 1, at(start_us) << 8, at(end_us), (pages.nodes.size() | uint64_t{pages.of_target} << 24) << 32,
                      pages.source, pages.bytes << 8, pages.target, nodes[0], nodes[1]});
}

void add_gpu_on_node(SpoolWriter& spool, int node) {
  const std::string text = fmt::format(
      R"({{"number":1,"kind":"gpu","uuid":"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f","numa_node":{}}})", node);
  spool.add_frame(MLRUN_FRAME_GPU, 0, text.data(), text.size());
}

// The calls: to the device, pageable; from it, pinned, which the GPU finishes later and in another order; one that CUPTI
// reports and mlrun's function has not seen; and one without any page in memory.
TEST(GpuWork, OfACopyHasTheBufferOfItsCallAndTheMisplacedBytes) {
  for (const int gpu_node : {1, 0, -1}) {
    SpoolWriter spool = empty_spool();
    add_gpu_on_node(spool, gpu_node);
    RecordBuffer records;
    add_device(records, records.add_string("H200"));
    const uint64_t copy = records.add_string("cudaMemcpyAsync");
    const auto call = [&](uint32_t correlation, uint64_t start, uint32_t tid = 100) {
      add_call(records, {.correlation = correlation, .start = start, .end = start + 5, .tid = tid}, MLRUN_GPU_RUNTIME,
               copy);
    };
    call(1, 10);
    add_host(records, 9, 16, {.source = 0x10064, .target = 0x7f00, .bytes = 8192, .nodes = {0, 0, 1}});
    call(2, 20);
    add_host(records, 19, 26, {.source = 0x7f00, .target = 0x20000, .bytes = 8192, .nodes = {1, 1}, .of_target = true});
    call(3, 22, 101);
    call(4, 40);
    add_host(records, 39, 46, {.source = 0x30000, .target = 0x7f00, .bytes = 4096, .nodes = {255}});
    add_copy(records, {.correlation = 3, .start = 50, .end = 60}, 1, 4096);
    add_copy(records, {.correlation = 2, .start = 61, .end = 81}, 2, 8192);
    add_copy(records, {.correlation = 4, .start = 82, .end = 83}, 1, 4096);
    add_copy(records, {.correlation = 1, .start = 84, .end = 94}, 1, 8192);
    spool.add_data(1, records);
    const TraceFolder folder;
    const auto summary = merged(folder, spool);
    EXPECT_EQ(folder.numbers("gpu_memcpy", "host_address"), (Numbers{std::nullopt, 0x20000, 0x30000, 0x10064}));
    EXPECT_EQ(folder.numbers("gpu_memcpy", "host_node"), (Numbers{std::nullopt, 1, std::nullopt, 0}));
    Numbers misplaced(4);
    if (gpu_node >= 0) misplaced[1] = gpu_node == 1 ? 0 : 8192;
    if (gpu_node >= 0) misplaced[3] = gpu_node == 1 ? 8192 - 100 : 100;  // its last page has 100 bytes
    EXPECT_EQ(folder.numbers("gpu_memcpy", "misplaced_bytes"), misplaced);
    int64_t bytes = 0, known = 0, wrong = 0, wrong_ns = 0;
    for (const summary::GpuHostSummary& row : summary.gpu_hosts) {
      EXPECT_EQ(row.gpu_node, gpu_node);
      bytes += row.bytes, known += row.known_bytes, wrong += row.misplaced_bytes, wrong_ns += row.misplaced_ns;
    }
    EXPECT_EQ(bytes, 24576);
    EXPECT_EQ(known, 16384);
    EXPECT_EQ(wrong, gpu_node == 1 ? 8092 : gpu_node == 0 ? 8292 : 0);
    EXPECT_EQ(wrong_ns, gpu_node == 1 ? 9878 : gpu_node == 0 ? 20'122 : 0);
  }
}

TEST(GpuWork, IsMissingWhileAnotherToolHadCupti) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  add_note(records, MLRUN_GPU_STARTED, 130000, 0, 1);
  const auto add_taken = [&](uint64_t first_us, uint64_t last_ns) {
    records.add_record(MLRUN_GPU_NOTE, MLRUN_GPU_TAKEN, {0, 1, 0, 0, at(first_us) << 8, last_ns, 0, 0});
  };
  add_taken(100, at(300));  // told when it was over, and before that, when it began
  add_taken(100, 0);
  add_taken(600, 0);
  add_note(records, MLRUN_GPU_ENDED, 0, 0, 900);
  spool.add_data(1, records);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  ASSERT_EQ(summary.losses.size(), 2u);
  EXPECT_EQ(summary.losses[0].first_ns, static_cast<int64_t>(at(100)));
  EXPECT_EQ(summary.losses[0].last_ns, static_cast<int64_t>(at(300)));
  EXPECT_EQ(summary.losses[1].first_ns, static_cast<int64_t>(at(600)));
  EXPECT_GE(summary.losses[1].last_ns, summary.losses[1].first_ns);
}

TEST(GpuWork, ThatWasRefusedIsMissingFromTheCoverage) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  add_note(records, MLRUN_GPU_OFF, 39, 0, 1);
  spool.add_data(1, records);
  const TraceFolder folder;
  const auto summary = merged(folder, spool);
  ASSERT_EQ(summary.coverage.size(), 1u);
  EXPECT_EQ(summary.coverage[0].subject, "GPU work");
  EXPECT_NE(summary.coverage[0].detail.find("another tool"), std::string::npos);
}

TEST(GpuWork, WithTimesFarOffKeepsTheOrderOfTheTables) {
  SpoolWriter spool = empty_spool();
  RecordBuffer records;
  for (const uint64_t start : {uint64_t{UINT64_MAX >> 8}, uint64_t{0}, uint64_t{500'000'000'000}}) {
    records.add_record(MLRUN_GPU_KERNEL, 1,
                       {0, 1, start << 8, start == 0 ? 0 : UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  }
  records.add_record(MLRUN_GPU_SYNC, 1, {0, 1, 900 << 8, 100, 0, 0, 0, 0});
  spool.add_data(1, records);
  const TraceFolder folder;
  merged(folder, spool);
  EXPECT_EQ(folder.numbers("gpu_kernel", "ts").size(), 3u);
  for (const auto& dur : folder.numbers("gpu_kernel", "dur")) EXPECT_GE(*dur, 0);
  EXPECT_EQ(folder.numbers("gpu_sync", "dur"), Numbers{0});
}

}  // namespace
}  // namespace mlrun
