// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/advise_options.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

// The default of --slow was refused in a container whose cpuset lacks a node.
TEST(AdviseOptions, TheSlowNodesAreThoseThatTheCpusetAllows) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("advise_options" + std::to_string(::getpid()));
  const std::filesystem::path node = root / "devices/system/node", status = root / "self/status";
  std::filesystem::create_directories(node);
  std::filesystem::create_directories(root / "self");
  std::ofstream(node / "has_memory") << "0-3\n";
  const auto slow = [&](const std::string& allowed) {
    std::ofstream(status) << "Name:\tx\n" << allowed;
    return nodes_beside({1}, root.string(), root.string());
  };
  EXPECT_EQ(slow("Mems_allowed_list:\t0-2\n"), (util::IdList{0, 2}));
  EXPECT_EQ(slow("Mems_allowed_list:\t1\n"), util::IdList{});
  EXPECT_EQ(slow(""), (util::IdList{0, 2, 3})) << "a kernel without cpusets";
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace mlrun::sweep
