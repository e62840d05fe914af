// SPDX-License-Identifier: Apache-2.0
// Kinds of memory and the node of a GPU, from folders that are made like /sys of known machines. What this machine and guests have:
// tests/vm/placement.
#include "runner/placement/kinds.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::placement {
namespace {

using Nodes = std::vector<uint32_t>;

class Kinds : public testing::Test {
 protected:
  Kinds() : root_(std::filesystem::temp_directory_path() / ("kinds" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    ::unsetenv("MEMKIND_HBW_NODES");
    ::unsetenv("MEMKIND_DAX_KMEM_NODES");
  }
  ~Kinds() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  void put_node(const std::string& number, const std::string& kib, const std::string& ns,
                const std::string& mib) const {
    const std::string node = "devices/system/node/node" + number + "/";
    put(node + "meminfo", "Node " + number + " MemTotal:       " + kib + " kB\nNode " + number + " MemFree: 1 kB");
    if (ns.empty()) return;
    put(node + "access0/initiators/read_latency", ns);
    put(node + "access0/initiators/read_bandwidth", mib);
  }
  void put_gpu(const std::string& address, const std::string& vendor, const std::string& kind,
               const std::string& node) const {
    const std::string device = "bus/pci/devices/" + address + "/";
    put(device + "vendor", vendor);
    put(device + "class", kind);
    put(device + "numa_node", node);
  }
  [[nodiscard]] Nodes of(const std::string& kind) const { return find(kind).value_or(Nodes()); }
  [[nodiscard]] Result<Nodes> find(const std::string& kind) const {
    return nodes_of_kind(kind, root_.string(), root_.string());
  }

  [[nodiscard]] Result<uint32_t> near(uint32_t gpu) const {
    return node_near_gpu(gpu, root_.string(), root_.string(), (root_ / "dev").string());
  }

  std::filesystem::path root_;
};

// Two sockets with DRAM, each with a node of wide memory (Xeon Max in flat mode), and a node of CXL.
TEST_F(Kinds, AreReadFromTheFirmwaresTable) {
  put("devices/system/node/has_memory", "0-4");
  put("devices/system/node/has_cpu", "0-1");
  put_node("0", "263000000", "110", "180000");
  put_node("1", "263000000", "110", "180000");
  put_node("2", "67000000", "130", "700000");
  put_node("3", "67000000", "130", "700000");
  put_node("4", "528000000", "300", "60000");
  EXPECT_EQ(of("regular"), (Nodes{0, 1}));
  EXPECT_EQ(of("lowest-latency"), (Nodes{0, 1}));
  EXPECT_EQ(of("hbw"), (Nodes{2, 3}));
  EXPECT_EQ(of("highest-capacity"), (Nodes{4}));
  EXPECT_EQ(find("dax-kmem").error().text.substr(0, 37), "this machine has no dax-kmem memory: ");
  ::setenv("MEMKIND_HBW_NODES", "4", 1);
  EXPECT_EQ(of("hbw"), (Nodes{4}));
  ::setenv("MEMKIND_HBW_NODES", "wide", 1);
  EXPECT_NE(find("hbw").error().text.find("is no list of nodes"), std::string::npos);
  ::unsetenv("MEMKIND_HBW_NODES");
}

// The same machine in a container with the nodes of one socket.
TEST_F(Kinds, AreThoseThatTheCpusetAllows) {
  put("devices/system/node/has_memory", "0-4");
  put("devices/system/node/has_cpu", "0-1");
  for (const char* const node : {"0", "1"}) put_node(node, "263000000", "110", "180000");
  for (const char* const node : {"2", "3"}) put_node(node, "67000000", "130", "700000");
  put_node("4", "528000000", "300", "60000");
  put("self/status", "Name:\tcat\nMems_allowed:\t0000000a\nMems_allowed_list:\t1,3");
  EXPECT_EQ(of("regular"), (Nodes{1}));
  EXPECT_EQ(of("lowest-latency"), (Nodes{1}));
  EXPECT_EQ(of("hbw"), (Nodes{3}));
  EXPECT_EQ(of("highest-capacity"), (Nodes{1}));
  put("self/status", "Mems_allowed_list:\t4");
  EXPECT_NE(find("regular").error().text.find("has node 4 alone"), std::string::npos);
}

// A GPU with memory of its own is nearest to that memory, which is far from the CPUs.
TEST_F(Kinds, AreJudgedByTheAccessOfCpus) {
  put("devices/system/node/has_memory", "0-1");
  put("devices/system/node/has_cpu", "0");
  put_node("0", "100", "110", "180000");
  put_node("1", "200", "90", "900000");
  put("devices/system/node/node1/access1/initiators/read_latency", "600");
  put("devices/system/node/node1/access1/initiators/read_bandwidth", "190000");
  EXPECT_EQ(of("lowest-latency"), (Nodes{0}));
  EXPECT_TRUE(of("hbw").empty());
}

TEST_F(Kinds, WithTheLowestLatencyAreUnknownIfThatOfOneNodeIs) {
  put("devices/system/node/has_memory", "0-1");
  put_node("0", "100", "", "");
  put_node("1", "200", "600", "60000");
  EXPECT_NE(find("lowest-latency").error().text.find("latency of each node"), std::string::npos);
}

TEST_F(Kinds, ThatTheFirmwareDoesNotDescribeAreAbsent) {
  put("devices/system/node/has_memory", "0-1");
  put("devices/system/node/has_cpu", "0");
  put_node("0", "100", "", "");
  put_node("1", "200", "", "");
  EXPECT_TRUE(of("lowest-latency").empty());
  EXPECT_TRUE(of("hbw").empty());
  EXPECT_EQ(of("highest-capacity"), (Nodes{1}));
}

TEST_F(Kinds, DaxDevicesCountOnceTheKernelUsesThemAsMemory) {
  put("devices/system/node/has_memory", "0,2");
  put("bus/dax/devices/dax0.0/target_node", "2");
  put("bus/dax/devices/dax1.0/target_node", "3");
  put("bus/dax/drivers/kmem/bind", "");
  put("bus/dax/drivers/device_dax/bind", "");
  std::filesystem::create_symlink("../../drivers/kmem", root_ / "bus/dax/devices/dax0.0/driver");
  std::filesystem::create_symlink("../../drivers/device_dax", root_ / "bus/dax/devices/dax1.0/driver");
  EXPECT_EQ(of("dax-kmem"), (Nodes{2}));
}

TEST_F(Kinds, DaxKmemIsOnTheNodesThatMemkindsVariableNames) {
  put("devices/system/node/has_memory", "0-2");
  EXPECT_NE(find("dax-kmem").error().text.find("MEMKIND_DAX_KMEM_NODES is not set"), std::string::npos);
  ::setenv("MEMKIND_DAX_KMEM_NODES", "1,2,7", 1);
  EXPECT_EQ(of("dax-kmem"), (Nodes{1, 2}));
  put("self/status", "Mems_allowed_list:\t0,2");
  EXPECT_EQ(of("dax-kmem"), (Nodes{2}));
  ::setenv("MEMKIND_DAX_KMEM_NODES", "far", 1);
  EXPECT_NE(find("dax-kmem").error().text.find("MEMKIND_DAX_KMEM_NODES is no list of nodes"), std::string::npos);
  ::unsetenv("MEMKIND_DAX_KMEM_NODES");
}

// Only display controllers of NVIDIA count; their audio functions and others do not. The order is that of addresses.
TEST_F(Kinds, NodeOfAGpuIsThatOfItsPciDevice) {
  put("devices/system/node/has_memory", "0-1");
  put_gpu("0000:c1:00.0", "0x10de", "0x030200", "1");
  put_gpu("0000:03:00.0", "0x1a03", "0x030000", "0");
  put_gpu("0000:41:00.0", "0x10de", "0x030000", "0");
  put_gpu("0000:41:00.1", "0x10de", "0x040300", "0");
  put_gpu("0001:01:00.0", "0x10de", "0x030200", "-1");
  put_gpu("0000:41:00.4", "0x10de", "0x030000", "1");
  put("bus/pci/devices/0000:41:00.4/physfn", "");
  EXPECT_EQ(near(0).value(), 0u);
  EXPECT_EQ(near(1).value(), 1u) << "0000:41:00.4 is a virtual function";
  EXPECT_NE(near(2).error().text.find("numa_node is -1"), std::string::npos);
  EXPECT_EQ(near(3).error().text, "GPU 3 does not exist; this machine has 3 NVIDIA GPUs");
}

// A container sees all PCI devices of the machine, and of the driver's list its own GPUs only.
TEST_F(Kinds, NodeOfAGpuIsThatOfTheDriversListIfThereIsOne) {
  put("devices/system/node/has_memory", "0-1");
  put_gpu("0000:41:00.0", "0x10de", "0x030000", "0");
  put_gpu("0000:c1:00.0", "0x10de", "0x030200", "1");
  put("driver/nvidia/gpus/0000:c1:00.0/information", "Model: x");
  EXPECT_EQ(near(0).value(), 1u);
  EXPECT_FALSE(near(1));
}

// A Slurm job or a container by CDI: the driver lists all GPUs, and the job may open the second one alone.
TEST_F(Kinds, NodeOfAGpuIsThatOfOneThatTheJobMayOpen) {
  put("devices/system/node/has_memory", "0-1");
  put_gpu("0000:41:00.0", "0x10de", "0x030200", "0");
  put_gpu("0000:c1:00.0", "0x10de", "0x030200", "1");
  put("driver/nvidia/gpus/0000:41:00.0/information", "Model: \t x\nDevice Minor: \t 1");
  put("driver/nvidia/gpus/0000:c1:00.0/information", "Model: \t x\nDevice Minor: \t 0");
  EXPECT_EQ(near(0).value(), 0u) << "the driver has not made the files yet";
  put("dev/nvidia0", "");
  EXPECT_EQ(near(0).value(), 1u);
  EXPECT_EQ(near(1).error().text, "GPU 1 does not exist; this machine has 2 NVIDIA GPUs, and 1 may be opened here");
}

TEST_F(Kinds, NodeOfAGpuUnknownToTheFirmwareIsTheOnlyOneWithMemory) {
  put_gpu("0000:41:00.0", "0x10de", "0x030200", "-1");
  EXPECT_FALSE(near(0));
  put("devices/system/node/has_memory", "0");
  EXPECT_EQ(near(0).value(), 0u);
  put("devices/system/node/has_memory", "0,2");
  EXPECT_NE(near(0).error().text.find("2 nodes with memory"), std::string::npos);
}

}  // namespace
}  // namespace mlrun::placement
