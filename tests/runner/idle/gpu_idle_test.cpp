// SPDX-License-Identifier: Apache-2.0
// Tests idle time of a GPU through the whole merge: the blame comes from the tables that were written before, a window
// of a quarter of a million of their rows at a time, whichever tables these rows are in.
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kprobes/rings/kernel_spool.h"
#include "runner/events/cufile_calls.h"
#include "runner/events/session.h"
#include "runner/util/unique_fd.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using nlohmann::json;
using testing::kStartNs;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;

constexpr uint64_t kMillisecond = 1'000'000, kGapBegins = 1'000, kGapEnds = 901'000, kLaunchNs = 10'000;  // us
constexpr uint64_t kRows = 600'000;  // 250,000 a window: three
constexpr uint32_t kPid = 100, kLauncher = 100, kOther = 101;

uint64_t at(uint64_t us) { return kStartNs + us * 1000; }

void add_api(RecordBuffer& records, uint32_t correlation, uint64_t start_ns, uint64_t end_ns, uint32_t tid,
             uint64_t name) {
  records.add_record(MLRUN_GPU_API, correlation,
                     {0, ticks_at(950 * kMillisecond), start_ns << 8, end_ns,
                      uint64_t{static_cast<uint32_t>(MLRUN_GPU_RUNTIME)} << 56, tid, 0, name});
}

void add_kernel(RecordBuffer& records, uint32_t correlation, uint64_t start_ns, uint64_t end_ns) {
  records.add_record(MLRUN_GPU_KERNEL, correlation,
                     {0, ticks_at(950 * kMillisecond), start_ns << 8, end_ns,
                      uint64_t{1} << 8 | uint64_t{MLRUN_GPU_CLOCK_MONOTONIC} << 24, 0, 0, 7, 0, 0, 0, 0, 0, 0});
}

// A GPU that has nothing to do for 900 ms, then what its thread launches.
class GpuIdleTest : public ::testing::Test {
 protected:
  GpuIdleTest() {
    for (uint64_t ms = 0; ms <= 1000; ms += 100) spool_.add_anchor(ms * kMillisecond);
    spool_.add_channel({.serial = 1, .tid = kLauncher});
    spool_.add_channel({.serial = 2, .tid = kOther});
    launch_ = records_.add_string("cudaLaunchKernel");
    records_.add_record(MLRUN_GPU_DEVICE, 1,
                        {0, 1, 0, 80, 0, 0x0706050403020100, 0, 0x0f0e0d0c0b0a0908, 0, 0, 0, 0, 0, 0});
    add_api(records_, 1, at(kGapBegins - 900), at(kGapBegins - 800), kLauncher, launch_);
    add_kernel(records_, 1, at(kGapBegins - 700), at(kGapBegins));
    add_api(records_, 2, at(kGapEnds) - kLaunchNs, at(kGapEnds) - kLaunchNs / 2, kLauncher, launch_);
    add_kernel(records_, 2, at(kGapEnds), at(kGapEnds + 100));
    spool_.add_data(1, records_);
    file_.reset(::open((folder_.path() + "/" MLRUN_KERNEL_FILE).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }

  void merge(const json& kernel_side, const std::vector<const char*>& streams) {
    json& session = spool_.session();
    session["options"]["streams"] = streams;
    if (kernel_side.is_null()) {
      ASSERT_EQ(::unlink((folder_.path() + "/" MLRUN_KERNEL_FILE).c_str()), 0);
    } else {
      kernel_.emplace(file_.get());
      for (const auto& add : records_of_kernel_) add(*kernel_);
      kernel_->flush();
      session["kernel_side"] = kernel_side;
    }
    const auto merged = folder_.merge(spool_);
    ASSERT_TRUE(merged) << merged.error().text;
  }

  // Pieces of the gap by label; its last is the launch.
  std::map<std::string, int> pieces() const {
    std::map<std::string, int> found;
    for (const std::string& label : folder_.texts("gpu_idle", "label")) ++found[label];
    return found;
  }

  TraceFolder folder_;
  SpoolWriter spool_;
  RecordBuffer records_;
  util::UniqueFd file_;
  std::optional<probes::KernelSpool> kernel_;
  std::vector<std::function<void(probes::KernelSpool&)>> records_of_kernel_;
  uint64_t launch_ = 0;
};

TEST_F(GpuIdleTest, IsBlamedInOneWindowWhereLittleWasRecorded) {
  merge(nullptr, {"gpu"});
  EXPECT_EQ(pieces(), (std::map<std::string, int>{{"unknown", 1}, {"launch", 1}}));
}

// Of another thread, so that they cut no piece themselves.
TEST_F(GpuIdleTest, IsBlamedInMoreWindowsTheMoreCallsOfCudaThereAre) {
  constexpr uint64_t kApart = (kGapEnds - kGapBegins) * 1000 / kRows;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint64_t start_ns = at(kGapBegins) + i * kApart;
    add_api(records_, static_cast<uint32_t>(i) + 10, start_ns, start_ns + 100, kOther, launch_);
    constexpr uint64_t kOfAFrame = 1000;
    if (i % kOfAFrame == kOfAFrame - 1) spool_.add_data(2, records_);
  }
  merge(nullptr, {"gpu"});
  EXPECT_EQ(pieces(), (std::map<std::string, int>{{"unknown", 3}, {"launch", 1}}));
}

TEST_F(GpuIdleTest, IsBlamedInMoreWindowsTheMoreSleepsThereAre) {
  constexpr uint64_t kApart = (kGapEnds - kGapBegins) * 1000 / kRows;
  records_of_kernel_.emplace_back([](probes::KernelSpool& spool) {
    for (uint64_t i = 0; i < kRows; ++i) {
      mlrun_wait wait{};
      wait.off_ns = at(kGapBegins) + i * kApart;
      wait.head = {MLRUN_KERNEL_WAIT, sizeof wait, 0, wait.off_ns + 100, kPid, kOther};
      spool.add(&wait, sizeof wait, wait.head.time_ns);
    }
  });
  merge({{"state", "recorded"}, {"programs", json::array({{{"event", "sched_switch"}, {"mechanism", "tracepoint"}}})}},
        {"gpu", "wait"});
  EXPECT_EQ(pieces(), (std::map<std::string, int>{{"cpu", 3}, {"launch", 1}}));
}

// From 100 to 600 ms into the gap the launching thread reads a file by libcufile.
TEST_F(GpuIdleTest, IsBlamedOnTheFileThatLibcufileReadsMeanwhile) {
  constexpr uint64_t kBegins = kGapBegins + 100'000, kEnds = kGapBegins + 600'000;
  records_of_kernel_.emplace_back([](probes::KernelSpool& spool) {
    mlrun_cufile_call call{};
    call.begin_ns = at(kBegins);
    call.head = {MLRUN_KERNEL_CUFILE, sizeof call, 0, at(kEnds), kPid, kLauncher};
    for (const events::CufileCall& known : events::kCufileCalls) {
      if (known.name == "cuFileRead") call.function = known.number;
    }
    call.fd = -1;
    call.arguments[2] = call.result = 4096;
    spool.add(&call, sizeof call, call.head.time_ns);
  });
  merge({{"state", "recorded"}, {"programs", json::array()}}, {"gpu", "cufile"});
  EXPECT_EQ(pieces()["file"], 1);
  const auto labels = folder_.texts("gpu_idle", "label");
  const auto begins = folder_.numbers("gpu_idle", "ts"), durations = folder_.numbers("gpu_idle", "dur");
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != "file") continue;
    EXPECT_EQ(begins[i], static_cast<int64_t>(at(kBegins)));
    EXPECT_EQ(durations[i], static_cast<int64_t>((kEnds - kBegins) * 1000));
  }
}

}  // namespace
}  // namespace mlrun
