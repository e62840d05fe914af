// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_pids.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::gpu {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSecondNs = 1'000'000'000;

// A /proc that a test has written.
class GpuPidsTest : public testing::Test {
 protected:
  void SetUp() override {
    proc_ = fs::path(testing::TempDir()) / ("proc-" + std::to_string(::getpid()) + "-" +
                                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(proc_);
    fs::create_directories(proc_);
  }
  void TearDown() override { fs::remove_all(proc_); }

  void add_process(uint32_t pid, const std::string& namespace_pids, const std::string& opened,
                   const std::string& maps = "") {
    const fs::path process = proc_ / std::to_string(pid);
    fs::create_directories(process / "fd");
    fs::create_symlink(opened, process / "fd" / "3");
    std::ofstream(process / "status") << "Name:\tx\nNSpid:\t" << namespace_pids << "\n";
    std::ofstream(process / "maps") << maps;
  }
  void expect(GpuPids& pids, uint32_t driver_pid, uint32_t pid, mlrun_pid_source source, uint64_t now_ns = kSecondNs) {
    const auto found = pids.resolve({driver_pid}, now_ns);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pid, pid);
    EXPECT_EQ(found[0].source, source);
  }
  GpuPids make() { return GpuPids(proc_.string()); }

  fs::path proc_;
};

TEST_F(GpuPidsTest, TheNumberItselfCountsForAProcessThatHasADeviceOpen) {
  add_process(400, "400", "/dev/nvidia0");
  add_process(401, "401", "/dev/nvidia1");
  auto pids = make();
  expect(pids, 401, 401, MLRUN_PID_SAME);
}

TEST_F(GpuPidsTest, TheDriversLibraryAmongTheMappingsIsAsGoodAsADevice) {
  add_process(400, "400", "/dev/null", "7f0000000000-7f0000001000 r-xp 0 08:01 7 /usr/lib/libcuda.so.580.1\n");
  auto pids = make();
  expect(pids, 400, 400, MLRUN_PID_SAME);
}

TEST_F(GpuPidsTest, AProcessWithThatNumberThatUsesNoGpuIsNotTakenForIt) {
  add_process(400, "400", "/tmp/file");
  add_process(500, "500 12", "/dev/nvidia0");
  add_process(501, "501 13", "/dev/nvidia0");
  auto pids = make();
  expect(pids, 400, 0, MLRUN_PID_UNKNOWN);
}

TEST_F(GpuPidsTest, ANumberInsideAContainerIsFoundByTheNamespacesNumbers) {
  add_process(500, "500 12", "/dev/nvidia0");
  add_process(501, "501 13", "/dev/nvidia0");
  auto pids = make();
  expect(pids, 13, 501, MLRUN_PID_NAMESPACE);
}

TEST_F(GpuPidsTest, ANumberThatTwoContainersHaveIsNotKnown) {
  add_process(500, "500 12", "/dev/nvidia0");
  add_process(501, "501 12", "/dev/nvidia0");
  auto pids = make();
  expect(pids, 12, 0, MLRUN_PID_UNKNOWN);
}

TEST_F(GpuPidsTest, TheHostsNumberSeenFromInsideAContainerIsTheOnlyUsers) {
  add_process(12, "12", "/dev/nvidiactl");
  add_process(13, "13", "/tmp/file");
  auto pids = make();
  expect(pids, 645400, 12, MLRUN_PID_ONLY);
}

TEST_F(GpuPidsTest, AProcessThatBeginsToUseAGpuIsFoundAScanLater) {
  auto pids = make();
  expect(pids, 400, 0, MLRUN_PID_UNKNOWN);
  add_process(400, "400", "/dev/nvidia0");
  expect(pids, 400, 0, MLRUN_PID_UNKNOWN, kSecondNs + 1);  // no scan so soon
  expect(pids, 400, 400, MLRUN_PID_SAME, 4 * kSecondNs);
}

TEST_F(GpuPidsTest, AReusedNumberMayBeAnotherProcesss) {
  add_process(500, "500 7", "/dev/nvidia0");
  add_process(600, "600 8", "/dev/nvidia0");
  auto pids = make();
  expect(pids, 7, 500, MLRUN_PID_NAMESPACE);
  expect(pids, 8, 600, MLRUN_PID_NAMESPACE, 2 * kSecondNs);  // 7 is gone
  fs::remove_all(proc_ / "500");
  add_process(700, "700 7", "/dev/nvidia0");
  expect(pids, 7, 700, MLRUN_PID_NAMESPACE, 4 * kSecondNs);
}

}  // namespace
}  // namespace mlrun::gpu
