// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/machine_state.h"

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

}  // namespace
}  // namespace mlrun::sweep
