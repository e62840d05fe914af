// SPDX-License-Identifier: Apache-2.0
// Samples of the machine, from files with known numbers.
#include "runner/samplers/proc/machine.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::proc {
namespace {

namespace fs = std::filesystem;

class MachineFiles : public ::testing::Test {
 protected:
  MachineFiles() : top_(fs::path(::testing::TempDir()) / "machine") {
    fs::create_directories(top_ / "pressure");
    fs::create_directories(top_ / "cgroup");
    places_.proc = top_.string();
    places_.cgroup.cpu = places_.cgroup.unified = {(top_ / "cgroup").string()};
  }
  ~MachineFiles() override { fs::remove_all(top_); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(top_ / name) << text; }

  fs::path top_;
  MachinePlaces places_;
};

TEST_F(MachineFiles, TimesAndCountsAreThoseOfTheInterval) {
  put("stat", "cpu  100 10 50 1000 20 3 4 7 0 0\ncpu0 1 2 3\nprocs_running 3\nprocs_blocked 0\n");
  put("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0 avg300=0 total=0\n");
  put("pressure/io", "some avg10=0 avg60=0 avg300=0 total=50\nfull avg10=0 avg60=0 avg300=0 total=40\n");
  put("cgroup/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 700\n");
  put("cgroup/cpu.max", "50000 100000\n");
  Machine machine(places_);
  EXPECT_FALSE(machine.sample(1'000'000'000));
  put("stat", "cpu  130 20 60 1100 25 4 6 17 0 0\ncpu0 1 2 3\nprocs_running 5\nprocs_blocked 0\n");
  put("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500\nfull avg10=0.00 avg60=0 avg300=0 total=0\n");
  put("pressure/io", "some avg10=0 avg60=0 avg300=0 total=80\nfull avg10=0 avg60=0 avg300=0 total=60\n");
  put("cgroup/cpu.stat", "usage_usec 9\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1700\n");
  const auto sample = machine.sample(2'500'000'000);
  ASSERT_TRUE(sample);
  const auto value = [&](mlrun_machine_field field) { return static_cast<int64_t>(sample->values[field]); };
  const int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  EXPECT_EQ(sample->monotonic_ns, 2'500'000'000u);
  EXPECT_EQ(sample->interval_ns, 1'500'000'000u);
  EXPECT_EQ(value(MLRUN_MACHINE_USER_NS), 40 * tick_ns);
  EXPECT_EQ(value(MLRUN_MACHINE_SYSTEM_NS), 13 * tick_ns);
  EXPECT_EQ(value(MLRUN_MACHINE_IDLE_NS), 100 * tick_ns);
  EXPECT_EQ(value(MLRUN_MACHINE_IOWAIT_NS), 5 * tick_ns);
  EXPECT_EQ(value(MLRUN_MACHINE_STEAL_NS), 10 * tick_ns);
  EXPECT_EQ(value(MLRUN_MACHINE_RUNNING), 5);
  EXPECT_EQ(value(MLRUN_MACHINE_CPU_QUOTA), 500);
  EXPECT_EQ(value(MLRUN_MACHINE_CPU_SOME_NS), 500'000);
  EXPECT_EQ(value(MLRUN_MACHINE_IO_SOME_NS), 30'000);
  EXPECT_EQ(value(MLRUN_MACHINE_IO_FULL_NS), 20'000);
  EXPECT_EQ(value(MLRUN_MACHINE_MEMORY_SOME_NS), MLRUN_NOT_KNOWN) << "this kernel has none";
  EXPECT_EQ(value(MLRUN_MACHINE_CGROUP_IO_SOME_NS), MLRUN_NOT_KNOWN);
  EXPECT_EQ(value(MLRUN_MACHINE_THROTTLED), 2);
  EXPECT_EQ(value(MLRUN_MACHINE_THROTTLED_NS), 1'000'000);
}

TEST_F(MachineFiles, WithoutProcThereIsNoSample) {
  Machine machine(places_);
  EXPECT_FALSE(machine.sample(1));
  EXPECT_FALSE(machine.sample(2));
}

}  // namespace
}  // namespace mlrun::proc
