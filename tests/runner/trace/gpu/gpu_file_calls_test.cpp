// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_calls.h"

#include <string_view>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"
#include "runner/events/cufile_calls.h"
#include "runner/trace/files/device_number.h"

namespace mlrun::trace {
namespace {

constexpr uint32_t kPid = 10, kDevice = 8 << kMinorBits | 1, kCaller = 10, kWorker = 11, kOther = 12;
constexpr uint64_t kHandle = 0x1000, kInode = 77, kOtherInode = 78;

class GpuFileCallsTest : public ::testing::Test {
 protected:
  static mlrun_cufile_call record(std::string_view function, uint64_t begin_ns, uint64_t end_ns, uint32_t tid) {
    mlrun_cufile_call record{};
    record.head.pid = kPid;
    record.head.tid = tid;
    record.head.time_ns = end_ns;
    record.begin_ns = begin_ns;
    record.fd = -1;
    for (const events::CufileCall& known : events::kCufileCalls) {
      if (known.name == function) record.function = known.number;
    }
    EXPECT_NE(record.function, 0u) << function;
    return record;
  }

  int64_t handle(uint64_t inode, uint64_t ns, uint64_t handle = kHandle) {
    mlrun_cufile_call made = record("cuFileHandleRegister", ns, ns + 1, kCaller);
    made.fd = 5;
    made.inode = inode;
    made.device = kDevice;
    made.read[0] = handle;
    calls_.add(made);
    return ++number_;
  }

  // A read or write of `result` bytes, or of none where that is negative.
  int64_t move(uint64_t begin_ns, uint64_t end_ns, uint64_t offset, int64_t result, uint32_t tid = kCaller,
               std::string_view function = "cuFileRead") {
    mlrun_cufile_call call = record(function, begin_ns, end_ns, tid);
    call.arguments[0] = kHandle;
    call.arguments[2] = static_cast<uint64_t>(result < 0 ? 100 : result);
    call.arguments[3] = offset;
    call.result = result;
    calls_.add(call);
    return ++number_;
  }

  // A read of the kernel's by whatever program.
  int64_t read(uint64_t begin_ns, uint64_t end_ns, uint64_t offset, int64_t bytes, uint32_t tid = kCaller,
               uint64_t inode = kInode, uint32_t op = MLRUN_FILE_READ) {
    mlrun_file_op operation{};
    operation.head.pid = kPid;
    operation.head.tid = tid;
    operation.head.time_ns = end_ns;
    operation.begin_ns = begin_ns;
    operation.op = op;
    operation.inode = inode;
    operation.device = kDevice;
    operation.offset = offset;
    operation.result = bytes;
    return calls_.operation(operation);
  }

  void finish(const model::FileTable& files = {}) { calls_.finish(files); }

  GpuFileCalls calls_{GpuFileCalls::Below::kOperations};
  int64_t number_ = 0;
};

TEST_F(GpuFileCallsTest, CountsWhatTheCallingThreadReadsMeanwhile) {
  handle(kInode, 10);
  const int64_t call = move(100, 200, 4096, 1000);
  finish();
  EXPECT_EQ(read(50, 60, 4096, 1000), 0);
  EXPECT_EQ(read(110, 120, 4096, 600), call);
  EXPECT_EQ(read(130, 140, 4696, 400), call);
  EXPECT_EQ(read(150, 160, 0, 100, kCaller, kOtherInode), 0) << "a file of libcufile's own";
  EXPECT_EQ(read(150, 160, 4096, 100, kCaller, kInode, MLRUN_FILE_WRITE), 0);
  EXPECT_EQ(read(210, 220, 4096, 1000), 0);
  EXPECT_EQ(calls_.posix(call).calls, 2);
  EXPECT_EQ(calls_.posix(call).bytes, 1000);
  EXPECT_EQ(calls_.posix(call).own_thread_ns, 20);
}

TEST_F(GpuFileCallsTest, AHandleMeansNothingToTheProgramThatIsExecuted) {
  calls_.add_exec(kPid, 5);
  calls_.add_exec(kPid, 300);
  calls_.add_exec(kPid + 1, 150);
  handle(kInode, 10);
  const int64_t before = move(100, 200, 0, 1000), after = move(400, 500, 0, 1000);
  handle(kOtherInode, 600);
  const int64_t again = move(700, 800, 0, 1000);
  finish();
  EXPECT_EQ(calls_.file(before).inode, kInode);
  EXPECT_EQ(calls_.file(after).inode, 0u);
  EXPECT_EQ(calls_.file(again).inode, kOtherInode);
}

TEST_F(GpuFileCallsTest, CountsWhatOtherThreadsReadOfTheRange) {
  handle(kInode, 10);
  const int64_t call = move(100, 200, 4096, 1000);
  finish();
  EXPECT_EQ(read(110, 120, 4096, 1000, kWorker), call);
  EXPECT_EQ(read(110, 120, 0, 4096, kOther), 0) << "beside the range";
  EXPECT_EQ(read(110, 120, 4096, 1000, kOther, kOtherInode), 0);
  EXPECT_EQ(read(300, 320, 4096, 1000, kWorker), 0);
  EXPECT_EQ(calls_.posix(call).bytes, 1000);
  EXPECT_EQ(calls_.posix(call).own_thread_ns, 0);
}

TEST_F(GpuFileCallsTest, NoByteCountsTwiceAndOnlyThoseOfTheRange) {
  handle(kInode, 10);
  const int64_t aligned = move(100, 200, 4100, 1000);
  const int64_t failed = move(300, 400, 0, -5022);
  finish();
  EXPECT_EQ(read(110, 120, 4096, 4096), aligned);
  EXPECT_EQ(read(130, 140, 4096, 4096), aligned);
  EXPECT_EQ(calls_.posix(aligned).bytes, 1000);
  EXPECT_EQ(read(310, 320, 0, 100), failed);
  EXPECT_EQ(calls_.posix(failed).bytes, 0);
}

TEST_F(GpuFileCallsTest, TwoThreadsThatReadTheSameRangeHaveTheirOwn) {
  handle(kInode, 10);
  const int64_t first = move(100, 200, 0, 500);
  const int64_t second = move(110, 210, 0, 500, kOther);
  finish();
  EXPECT_NE(read(120, 130, 0, 500, kWorker), read(140, 150, 0, 500, kWorker));
  EXPECT_EQ(calls_.posix(first).bytes, 500);
  EXPECT_EQ(calls_.posix(second).bytes, 500);
}

TEST_F(GpuFileCallsTest, AHandleThatIsUsedAgainIsForTheNewFile) {
  handle(kInode, 10);
  const int64_t before = move(20, 30, 0, 1);
  mlrun_cufile_call gone = record("cuFileHandleDeregister", 40, 41, kCaller);
  gone.arguments[0] = kHandle;
  gone.result = 12345;  // it returns nothing, so this is whatever the register held
  calls_.add(gone);
  ++number_;
  const int64_t between = move(50, 60, 0, 1);
  handle(kOtherInode, 70);
  const int64_t after = move(80, 90, 0, 1);
  finish();
  EXPECT_EQ(calls_.file(before).inode, kInode);
  EXPECT_EQ(calls_.file(between).inode, 0u);
  EXPECT_EQ(calls_.file(after).inode, kOtherInode);
  EXPECT_EQ(read(52, 58, 0, 1, kCaller, 99), between) << "of a file that is not known, in the same thread";
}

TEST_F(GpuFileCallsTest, AnOperationOfABatchLastsUntilItsResultIsAskedFor) {
  handle(kInode, 10);
  events::CufileOperation read{1, 0, 0, 4096, 0, 1000, kHandle, 0, 0, 5};
  mlrun_cufile_call submit = record("cuFileBatchIOSubmit", 100, 110, kCaller);
  submit.arguments[0] = 0x9000;
  submit.arguments[1] = 1;
  calls_.add(submit, {reinterpret_cast<const char*>(&read), sizeof read});
  const int64_t operation = number_ + 2;
  mlrun_cufile_call results = record("cuFileBatchIOGetStatus", 190, 200, kOther);
  results.arguments[0] = 0x9000;
  events::CufileResult result{5, events::kCufileComplete, 0, 1000};
  calls_.add(results, {reinterpret_cast<const char*>(&result), sizeof result});
  finish();
  EXPECT_EQ(calls_.end(operation).end_ns, 200);
  EXPECT_EQ(calls_.end(operation).status, model::BatchStatus::kComplete);
  EXPECT_EQ(calls_.file(operation).inode, kInode);
  EXPECT_EQ(this->read(150, 160, 4096, 1000, kWorker), operation);
  EXPECT_EQ(this->read(250, 260, 4096, 1000, kWorker), 0);
  EXPECT_EQ(calls_.posix(operation).bytes, 1000);
}

TEST_F(GpuFileCallsTest, ABatchMeansNothingToTheProgramThatIsExecuted) {
  calls_.add_exec(kPid, 150);
  handle(kInode, 10);
  events::CufileOperation read{1, 0, 0, 4096, 0, 1000, kHandle, 0, 0, 5};
  mlrun_cufile_call submit = record("cuFileBatchIOSubmit", 100, 110, kCaller);
  calls_.add(submit, {reinterpret_cast<const char*>(&read), sizeof read});
  const int64_t operation = number_ + 2;
  events::CufileResult result{5, events::kCufileComplete, 0, 1000};
  calls_.add(record("cuFileBatchIOGetStatus", 190, 200, kCaller),
             {reinterpret_cast<const char*>(&result), sizeof result});
  finish();
  EXPECT_EQ(calls_.end(operation).status, model::BatchStatus::kUnknown);
  EXPECT_EQ(calls_.batches().unmatched(), 1);
}

// A read recorded by the library, of a file in the table.
model::CallRow read_call(int64_t file_id, int64_t ts_ns, int64_t offset, int64_t bytes, int32_t tid) {
  model::CallRow row;
  row.func = events::func::k_pread;
  row.origin.pid = kPid;
  row.origin.tid = tid;
  row.origin.ts_ns = ts_ns;
  row.dur_ns = 10;
  row.file_id = file_id;
  row.offset = offset;
  row.ret = bytes;
  return row;
}

TEST_F(GpuFileCallsTest, OnOverlayfsAFileHasTheDeviceOfItsLayerInCalls) {
  constexpr int64_t kLayer = 45, kTwice = 99;
  calls_ = GpuFileCalls(GpuFileCalls::Below::kCalls);
  model::FileTable files;
  const auto add_file = [&](uint64_t inode, int64_t device, const char* file_system) {
    model::FileRow row;
    row.dev = device;
    row.ino = static_cast<int64_t>(inode);
    row.file_system = file_system;
    files.push_back(row);
    return static_cast<int64_t>(files.size());
  };
  const int64_t above = add_file(kInode, kLayer, "overlay"), elsewhere = add_file(kInode, kLayer + 1, "ext4");
  const int64_t first = add_file(kTwice, kLayer, "overlay"), second = add_file(kTwice, kLayer + 1, "overlay");
  const int64_t own = add_file(kOtherInode, stat_device(kDevice), "ext4"),
                other = add_file(kOtherInode, kLayer, "overlay");
  handle(kInode, 10);
  const int64_t call = move(100, 200, 0, 1000);
  handle(kTwice, 300);
  move(400, 500, 0, 1000);
  handle(kOtherInode, 600);
  const int64_t exact = move(700, 800, 0, 1000);
  finish(files);
  EXPECT_EQ(calls_.call(read_call(above, 110, 0, 600, kCaller)), call);
  EXPECT_EQ(calls_.call(read_call(above, 120, 600, 400, kWorker)), call);
  EXPECT_EQ(calls_.call(read_call(elsewhere, 130, 0, 10, kCaller)), 0) << "not on overlayfs";
  EXPECT_EQ(calls_.posix(call).bytes, 1000);
  EXPECT_EQ(read(140, 150, 0, 10), call) << "the kernel's own device is the same in both";
  for (const int64_t file : {first, second}) EXPECT_EQ(calls_.call(read_call(file, 410, 0, 10, kCaller)), 0);
  EXPECT_EQ(calls_.call(read_call(own, 710, 0, 10, kCaller)), exact);
  EXPECT_EQ(calls_.call(read_call(other, 720, 0, 10, kCaller)), 0) << "the file itself is there";
}

TEST_F(GpuFileCallsTest, ValuesOfDamagedRecordsOverflowNothing) {
  handle(kInode, 10);
  const int64_t call = move(100, 200, UINT64_MAX, INT64_MAX);
  finish();
  EXPECT_EQ(read(110, 120, UINT64_MAX, INT64_MAX), call);
  EXPECT_LE(calls_.posix(call).bytes, INT64_MAX);
  EXPECT_EQ(calls_.file(1000).inode, 0u);
}

}  // namespace
}  // namespace mlrun::trace
