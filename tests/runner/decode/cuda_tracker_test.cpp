// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/cuda_tracker.h"

#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace mlrun::decode {
namespace {

constexpr uint32_t kPid = 10;

class CudaTrackerTest : public ::testing::Test {
 protected:
  // A call from `begin` to `end`; `given`: what its first argument points to afterwards.
  void call(const char* function, std::initializer_list<uint64_t> arguments, uint64_t given = 0, int64_t begin_ns = 0,
            int64_t end_ns = 0, uint32_t tid = kPid, uint64_t second = 0) {
    mlrun_cuda_call record{};
    if (end_ns == 0) begin_ns = end_ns = ++now_ns_ * 10;
    record.head.pid = kPid;
    record.head.tid = tid;
    record.head.time_ns = static_cast<uint64_t>(end_ns);
    size_t i = 0;
    for (const uint64_t argument : arguments) record.arguments[i++] = argument;
    record.read[0] = given;
    record.read[1] = second;
    for (const events::CudaCall& known : events::kCudaCalls) {
      if (known.name == function) record.function = known.number;
    }
    ASSERT_NE(record.function, 0u) << function;
    const model::Origin origin{begin_ns, 1, 1, 1, kPid, static_cast<int32_t>(tid)};
    EXPECT_TRUE(tracker_.add(record, origin, rows_));
  }

  // Rows of memory: "+address:bytes" or "-address:bytes", and "@context" where that is known.
  std::string memory() const {
    std::string text;
    for (const model::GpuWorkRow& row : rows_) {
      if (row.kind != model::GpuKind::kMemory) continue;
      const bool is_new = model::operation_of(row.detail) == model::GpuMemoryOperation::kAllocation;
      text += (is_new ? "+" : "-") + std::to_string(row.address) + ":" + std::to_string(row.bytes);
      text += (row.context != 0 ? "@" + std::to_string(row.context) : "") + " ";
    }
    return text;
  }

  CudaTracker tracker_{INT64_MAX};
  CudaTracker::Rows rows_;
  int64_t now_ns_ = 0;
};

TEST_F(CudaTrackerTest, AnAddressReusedBeforeItsReleaseReturnsBelongsToItsNewBlock) {
  call("cuMemAlloc_v2", {0, 100}, 7, 10, 20);
  call("cuMemAlloc_v2", {0, 200}, 7, 40, 50, kPid + 1);
  call("cuMemFree_v2", {7}, 0, 30, 60);  // began before the second one had the address
  call("cuMemFree_v2", {7}, 0, 70, 80);
  EXPECT_EQ(memory(), "+7:100 +7:200 -7:100 -7:200 ");
}

TEST_F(CudaTrackerTest, AHandleIsReleasedWhenItIsMappedNowhere) {
  call("cuMemCreate", {0, 100}, 7);
  call("cuMemMap", {1000, 50, 0, 7});
  call("cuMemMap", {1050, 50, 0, 7});
  call("cuMemRelease", {7});
  call("cuMemUnmap", {1050, 50});
  EXPECT_EQ(memory(), "+7:100 ");
  call("cuMemUnmap", {1000, 50});
  EXPECT_EQ(memory(), "+7:100 -7:100 ");
  call("cuMemRelease", {7});  // of nothing that is known
  EXPECT_EQ(memory(), "+7:100 -7:100 ");
}

TEST_F(CudaTrackerTest, OneUnmappingMayEndManyHandles) {
  for (const uint64_t handle : {1, 2, 3}) {
    call("cuMemCreate", {0, 10 * handle}, handle);
    call("cuMemMap", {1000 + 100 * handle, 100, 0, handle});
    call("cuMemRelease", {handle});
  }
  call("cuMemUnmap", {1100, 200});
  EXPECT_EQ(memory(), "+1:10 +2:20 +3:30 -1:10 -2:20 ");
}

TEST_F(CudaTrackerTest, AHandleThatIsRetainedIsReleasedTwice) {
  call("cuMemCreate", {0, 100}, 7);
  call("cuMemRetainAllocationHandle", {0, 1000}, 7);
  call("cuMemRelease", {7});
  EXPECT_EQ(memory(), "+7:100 ");
  call("cuMemRelease", {7});
  EXPECT_EQ(memory(), "+7:100 -7:100 ");
}

TEST_F(CudaTrackerTest, ContextsBelongToThreadsAndAreStacked) {
  call("cuCtxPushCurrent_v2", {500});
  call("cuMemAlloc_v2", {0, 10}, 1);
  call("cuCtxPushCurrent_v2", {600});
  call("cuMemAlloc_v2", {0, 20}, 2);
  call("cuMemAlloc_v2", {0, 30}, 3, 1000, 1001, kPid + 1);  // of an unknown thread
  call("cuCtxPopCurrent_v2", {0});
  call("cuMemAlloc_v2", {0, 40}, 4);
  call("cuCtxSetCurrent", {600});
  call("cuMemAlloc_v2", {0, 50}, 5);
  call("cuCtxSetCurrent", {0});
  call("cuMemAlloc_v2", {0, 60}, 6);
  EXPECT_EQ(memory(), "+1:10@1 +2:20@2 +3:30 +4:40@1 +5:50@2 +6:60 ");
}

TEST_F(CudaTrackerTest, MemoryIsOnTheDeviceOfItsContextWhereThatIsCertain) {
  constexpr uint64_t kStream = 0x55, kOnDevice3 = 1 | uint64_t{3} << 32;
  call("cuMemAlloc_v2", {0, 100}, 1);  // in a context that was there before
  call("cuCtxCreate_v2", {0, 0, 2}, 0xc);
  call("cuMemAlloc_v2", {0, 100}, 2);
  call("cuDevicePrimaryCtxRetain", {0, 1}, 0xd);
  call("cuCtxSetCurrent", {0xd});
  call("cuMemAlloc_v2", {0, 100}, 3);
  call("cuMemAllocAsync", {0, 100, 0}, 4);
  call("cuMemAllocAsync", {0, 100, kStream}, 5);  // of whatever device the stream is
  call("cuMemHostAlloc", {0, 100}, 6);
  call("cuMemCreate", {0, 100}, 7, 0, 0, kPid, kOnDevice3);
  call("cuMemFree_v2", {2});
  call("cuMemRelease", {7});
  std::map<std::pair<uint64_t, bool>, int32_t> devices;  // by address, and whether it was allocated
  for (const model::GpuWorkRow& row : rows_) {
    if (row.kind != model::GpuKind::kMemory) continue;
    devices[{row.address, model::operation_of(row.detail) == model::GpuMemoryOperation::kAllocation}] = row.device;
  }
  const std::map<std::pair<uint64_t, bool>, int32_t> wanted = {{{1, true}, -1}, {{2, true}, 2},  {{3, true}, 1},
                                                               {{4, true}, 1},  {{5, true}, -1}, {{6, true}, -1},
                                                               {{7, true}, 3},  {{2, false}, 2}, {{7, false}, 3}};
  EXPECT_EQ(devices, wanted);
}

TEST_F(CudaTrackerTest, ADestroyedContextReleasesWhatItHasAndNoMemoryOfAPool) {
  call("cuCtxCreate_v2", {0, 0, 0}, 500);
  call("cuMemAlloc_v2", {0, 10}, 1);
  call("cuMemAllocAsync", {0, 20, 9}, 2);
  call("cuMemAlloc_v2", {0, 30}, 3);
  call("cuMemFree_v2", {3});
  call("cuCtxDestroy_v2", {500});
  EXPECT_EQ(memory(), "+1:10@1 +2:20@1 +3:30@1 -3:30@1 -1:10@1 ");
  call("cuCtxCreate_v2", {0, 0, 0}, 500);  // another one with the same handle
  call("cuMemAlloc_v2", {0, 40}, 4);
  EXPECT_TRUE(memory().ends_with("+4:40@2 ")) << memory();
}

TEST_F(CudaTrackerTest, APrimaryContextEndsWithItsLastReleaseUnlessSomeWentUnseen) {
  constexpr uint64_t kGarbage = uint64_t{0xdead} << 32;  // a device's number has 32 bits, the register more
  for (const bool began_outside : {false, true}) {
    tracker_ = CudaTracker(INT64_MAX);
    rows_.clear();
    if (!began_outside) call("cuInit", {0});
    call("cuDevicePrimaryCtxRetain", {0, kGarbage}, 500);
    call("cuDevicePrimaryCtxRetain", {0, 0}, 500);
    call("cuCtxSetCurrent", {500});
    call("cuMemAlloc_v2", {0, 10}, 1);
    call("cuDevicePrimaryCtxRelease_v2", {0});
    EXPECT_EQ(memory(), "+1:10@1 ");
    call("cuDevicePrimaryCtxRelease_v2", {0});
    EXPECT_EQ(memory(), began_outside ? "+1:10@1 " : "+1:10@1 -1:10@1 ");
  }
}

TEST_F(CudaTrackerTest, HostMemoryFromCuMemCreateIsNotDeviceMemory) {
  constexpr uint64_t kHostNuma = 3;
  call("cuMemCreate", {0, 100}, 7, 0, 0, kPid, kHostNuma);
  call("cuMemRelease", {7});
  std::vector<uint8_t> memories;
  for (const model::GpuWorkRow& row : rows_) {
    if (row.kind == model::GpuKind::kMemory) memories.push_back(static_cast<uint8_t>(row.detail >> 8));
  }
  EXPECT_EQ(memories, std::vector<uint8_t>(2, events::kCudaPinned));
}

TEST_F(CudaTrackerTest, DestroyedContextsTakeNoMemory) {
  for (uint64_t i = 0; i < CudaTracker::kContextsMax + 10; i++) {
    call("cuCtxCreate_v2", {0, 0, 0}, 500);
    call("cuCtxDestroy_v2", {500});
  }
  EXPECT_EQ(tracker_.left_out(), 0u);
}

TEST_F(CudaTrackerTest, AbsurdSizesDoNoHarm) {
  call("cuMemAllocPitch_v2", {0, 0, 1, UINT64_MAX}, 1);
  call("cuMemAlloc_v2", {0, UINT64_MAX}, 2);
  call("cuMemUnmap", {UINT64_MAX, UINT64_MAX});
  call("cuMemAlloc_v2", {0, 5}, 0);
  EXPECT_EQ(memory(), "+1:0 +2:" + std::to_string(INT64_MAX) + " ");
}

TEST_F(CudaTrackerTest, AFunctionOfALaterVersionIsNotKnown) {
  mlrun_cuda_call record{};
  record.function = 60000;
  EXPECT_FALSE(tracker_.add(record, {}, rows_));
  EXPECT_TRUE(rows_.empty());
}

}  // namespace
}  // namespace mlrun::decode
