// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/cuda_memory.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/events/cuda_calls.h"
#include "tests/runner/monitor/kernel_file.h"

namespace mlrun::monitor {
namespace {

constexpr uint32_t kPid = 4711;

uint32_t number_of(std::string_view name) {
  for (const events::CudaCall& call : events::kCudaCalls) {
    if (call.name == name) return call.number;
  }
  ADD_FAILURE() << name;
  return 0;
}

Record call(const char* name, uint64_t first, uint64_t second, uint64_t given, int32_t result = 0,
            uint32_t tid = kPid) {
  static uint64_t now_ns = 1000;
  mlrun_cuda_call record{};
  record.begin_ns = now_ns += 10;
  record.head.time_ns = now_ns += 10;
  record.function = number_of(name);
  record.result = result;
  record.arguments[0] = first;
  record.arguments[1] = second;
  record.read[0] = given;
  return record_of(record, MLRUN_KERNEL_CUDA, kPid, tid);
}
Record alloc(uint64_t bytes, uint64_t address, uint32_t tid = kPid) {
  return call("cuMemAlloc_v2", 0, bytes, address, 0, tid);
}
Record free_of(uint64_t address, uint32_t tid = kPid) { return call("cuMemFree_v2", address, 0, 0, 0, tid); }

Record context_on(uint64_t device, uint64_t context) {
  mlrun_cuda_call record{};
  record.begin_ns = record.head.time_ns = 100;
  record.function = number_of("cuCtxCreate_v2");
  record.arguments[2] = device;
  record.read[0] = context;
  return record_of(record, MLRUN_KERNEL_CUDA, kPid, kPid);
}

void add(CudaMemory& memory, const std::vector<Record>& records) {
  for (const Record& record : records) {
    std::vector<uint64_t> words(record.size() / sizeof(uint64_t));
    std::memcpy(words.data(), record.data(), record.size());
    decode::KernelReader reader(words.data(), record.size());
    ASSERT_TRUE(reader.next());
    memory.add(reader);
  }
}

TEST(CudaMemory, AReleaseByAnotherThreadIsThatOfTheProcess) {
  CudaMemory memory;
  add(memory, {alloc(100, 0x1000, kPid), alloc(50, 0x2000, kPid + 1), free_of(0x1000, kPid + 2)});
  const CudaUse& use = memory.uses().at(kPid);
  EXPECT_EQ(use.device_bytes, 50);
  EXPECT_EQ(use.allocations, 2u);
  EXPECT_EQ(use.releases, 1u);
  EXPECT_EQ(use.unmatched, 0u);
}

TEST(CudaMemory, FailedAndEarlierAllocationsAreNotCounted) {
  CudaMemory memory;
  add(memory, {call("cuMemAlloc_v2", 0, 1 << 30, 0, 2), free_of(0x9000), call("cuMemAllocHost_v2", 0, 7, 0x3000)});
  const CudaUse& use = memory.uses().at(kPid);
  EXPECT_EQ(use.device_bytes, 0);
  EXPECT_EQ(use.pinned_bytes, 7);
  EXPECT_EQ(use.failed, 1u);
  EXPECT_EQ(use.unmatched, 1u);
}

TEST(CudaMemory, MemoryOfAContextEndsWithIt) {
  CudaMemory memory;
  mlrun_cuda_call destroy{};
  destroy.function = number_of("cuCtxDestroy_v2");
  destroy.arguments[0] = 0xc0;
  destroy.begin_ns = destroy.head.time_ns = 1 << 20;
  add(memory,
      {call("cuCtxCreate_v2", 0, 0, 0xc0), alloc(100, 0x1000), record_of(destroy, MLRUN_KERNEL_CUDA, kPid, kPid)});
  EXPECT_EQ(memory.uses().at(kPid).device_bytes, 0);
}

TEST(CudaMemory, TheEndOfAProcessOrItsProgramIsTheEndOfItsMemory) {
  CudaMemory memory("/nowhere");
  add(memory, {alloc(100, 0x1000), task(kPid, MLRUN_TASK_EXIT, kPid + 1)});
  EXPECT_EQ(memory.uses().at(kPid).device_bytes, 100);  // that was one of its threads
  add(memory, {task(kPid, MLRUN_TASK_EXEC)});
  EXPECT_TRUE(memory.uses().empty());
  add(memory, {free_of(0x1000)});  // an address of the program before
  EXPECT_EQ(memory.uses().at(kPid).unmatched, 1u);
  add(memory, {alloc(20, 0x2000), task(kPid, MLRUN_TASK_EXIT)});
  EXPECT_EQ(memory.table("now"), "now\nno process with calls about GPU memory\n");
  add(memory, {free_of(0x2000, kPid + 1)});  // only its first thread had ended
  EXPECT_EQ(memory.uses().at(kPid).device_bytes, 0);
  EXPECT_FALSE(memory.uses().at(kPid).has_ended);
  add(memory, {alloc(10, 0x1000), task(kPid, MLRUN_TASK_FORK), free_of(0x1000)});  // the number again
  EXPECT_EQ(memory.uses().at(kPid).unmatched, 1u);
}

TEST(CudaMemory, AProcessWithoutItsFirstThreadHasItsMemoryAsLongAsItLives) {
  namespace fs = std::filesystem;
  const fs::path proc = fs::path(testing::TempDir()) / "cuda_memory_test_proc";
  const fs::path threads = proc / std::to_string(kPid) / "task";
  for (const uint32_t tid : {kPid, kPid + 1}) fs::create_directories(threads / std::to_string(tid));
  CudaMemory memory(proc.string());
  add(memory, {alloc(2048, 0x1000), task(kPid, MLRUN_TASK_EXIT)});
  EXPECT_NE(memory.table("now").find("2.00 KiB"), std::string::npos);
  fs::remove(threads / std::to_string(kPid + 1));
  EXPECT_EQ(memory.table("now"), "now\nno process with calls about GPU memory\n");
  EXPECT_TRUE(memory.uses().empty());
  fs::remove_all(proc);
}

TEST(CudaMemory, NumbersGpusAsTheProcessDoes) {
  CudaMemory memory("/nowhere");
  add(memory, {context_on(0, 0xc0), alloc(1024, 0x1000)});
  EXPECT_EQ(memory.uses().at(kPid).by_gpu, (std::map<int32_t, int64_t>{{0, 1024}}));
  add(memory, {context_on(1, 0xc1), alloc(2048, 0x2000), alloc(1024, 0x3000), free_of(0x3000, kPid + 1)});
  EXPECT_EQ(memory.uses().at(kPid).by_gpu, (std::map<int32_t, int64_t>{{0, 1024}, {1, 2048}}));
  EXPECT_NE(memory.table("now").find("  0: 1.00 KiB, 1: 2.00 KiB\n"), std::string::npos) << memory.table("now");
  add(memory, {free_of(0x1000)});
  EXPECT_NE(memory.table("now").find("  1\n"), std::string::npos) << memory.table("now");
  add(memory, {free_of(0x2000), call("cuMemAllocHost_v2", 0, 7, 0x4000)});
  EXPECT_TRUE(memory.uses().at(kPid).by_gpu.empty());
  EXPECT_NE(memory.table("now").find("  -\n"), std::string::npos) << memory.table("now");
}

// Another thread may be given the address before the call that released it has returned.
TEST(CudaMemory, AReusedAddressStaysOnItsGpu) {
  CudaMemory memory("/nowhere");
  mlrun_cuda_call release{};
  release.function = number_of("cuMemFree_v2");
  release.arguments[0] = 0x1000;
  mlrun_cuda_call again{};
  again.function = number_of("cuMemAlloc_v2");
  again.arguments[1] = 50;
  again.read[0] = 0x1000;
  add(memory, {context_on(0, 0xc0), alloc(100, 0x1000)});
  release.begin_ns = again.begin_ns = 1 << 20;
  again.head.time_ns = (1 << 20) + 10;
  release.head.time_ns = (1 << 20) + 20;
  add(memory, {record_of(again, MLRUN_KERNEL_CUDA, kPid, kPid), record_of(release, MLRUN_KERNEL_CUDA, kPid, kPid + 1)});
  EXPECT_EQ(memory.uses().at(kPid).by_gpu, (std::map<int32_t, int64_t>{{0, 50}}));
}

TEST(CudaMemory, TheTableHasTheLargestHoldersAndTheLosses) {
  CudaMemory memory("/nowhere");
  EXPECT_EQ(memory.table("now"), "now\nno process with calls about GPU memory\n");
  mlrun_kernel_loss loss{};
  loss.of_kind = MLRUN_KERNEL_CUDA;
  loss.count = 3;
  add(memory, {alloc(2048, 0x1000), record_of(loss, MLRUN_KERNEL_LOSS, 0, 0)});
  EXPECT_EQ(memory.table("now"),
            "now\n PID    IN USE  MANAGED  PINNED  ALLOCS  FREES  FAILED  OF BEFORE  USER  COMMAND  GPU\n"
            "4711  2.00 KiB      0 B     0 B       1      0       0          0  -     -        ?\n"
            "3 calls were lost or not tracked, so these figures may be wrong\n");
}

}  // namespace
}  // namespace mlrun::monitor
