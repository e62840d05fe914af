// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/machine_state.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const char* text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(machine, EachNodeWithMemoryHasItsFreeBytes) {
  const fs::path system = fs::path(testing::TempDir()) / "mlrun-machine-state";
  fs::remove_all(system);
  const fs::path nodes = system / "devices/system/node";
  write(nodes / "has_memory", "0,2-3\n");
  write(nodes / "node0/meminfo", "Node 0 MemTotal:  8145420 kB\nNode 0 MemFree:   4096 kB\nNode 0 MemUsed: 1 kB\n");
  write(nodes / "node2/meminfo", "Node 2 MemTotal:  8145420 kB\nNode 2 MemFree:   0 kB\n");
  write(nodes / "node3/meminfo", "nothing known\n");
  Figures machine;
  add_machine_now(machine, system.string());
  fs::remove_all(system);
  EXPECT_EQ(machine.at("node_0_free_bytes"), 4096.0 * 1024);
  EXPECT_EQ(machine.at("node_2_free_bytes"), 0);
  EXPECT_FALSE(machine.contains("node_1_free_bytes"));
  EXPECT_FALSE(machine.contains("node_3_free_bytes"));
  EXPECT_FALSE(machine.contains("temperature_c"));
  EXPECT_GT(machine.at("memory_available_bytes"), 0);
}

TEST(machine, shares_between_two_moments_are_of_the_time_of_all_processors) {
  MachineCounters from = read_machine_counters(), to = from;
  EXPECT_GT(from.busy_ticks, 0u);
  const auto processors = static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  to.monotonic_ns += 10'000'000'000;
  to.busy_ticks += 5 * processors * static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  from.stall_ns = {{"io_full", 1'000'000'000}, {"io_some", 9'000'000'000}};
  to.stall_ns = {{"io_full", 3'000'000'000}, {"io_some", 1'000'000'000}, {"cpu_some", 1'000'000'000}};
  Figures machine;
  add_machine_between(from, to, 0, machine);
  EXPECT_DOUBLE_EQ(machine.at("other_cpu_share"), 0.5);
  EXPECT_DOUBLE_EQ(machine.at("stall_io_full_share"), 0.2);
  EXPECT_FALSE(machine.contains("stall_io_some_share")) << "the counter was reset";
  EXPECT_FALSE(machine.contains("stall_cpu_some_share")) << "it is unknown at the beginning";
}

}  // namespace
}  // namespace mlrun::sweep
