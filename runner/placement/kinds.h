// SPDX-License-Identifier: Apache-2.0
// Kinds of memory, as memkind names them: the nodes of each, by what /sys says.
//
//   regular           nodes with CPUs
//   dax-kmem          persistent or CXL memory that the kernel uses as memory (dax devices with the driver kmem); or MEMKIND_DAX_KMEM_NODES
//   highest-capacity  the largest
//   lowest-latency    by the firmware's table of latencies (HMAT)
//   hbw               of 200 GB/s and more by that table, and more than the nodes with CPUs have; or MEMKIND_HBW_NODES
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::placement {

bool is_kind(const std::string& name);  // one of util::kMemoryKinds

// The nodes with memory that the cpuset of this process allows. `system`, `proc`: /sys and /proc, but for tests.
std::vector<uint32_t> allowed_nodes(const std::string& system = "/sys", const std::string& proc = "/proc");

// What the firmware (HMAT) says of access to a node's memory from the nearest CPUs: read_latency (ns), read_bandwidth (MiB/s) and their like; -1:
// nothing.
int64_t firmware_value(uint32_t node, const char* what, const std::string& system = "/sys");

// Chooses among the allowed nodes. Fails if there is no such memory, and says what is missing.
Result<std::vector<uint32_t>> nodes_of_kind(const std::string& kind, const std::string& system = "/sys",
                                            const std::string& proc = "/proc");

// The node that is next to GPU number `gpu`, in the order of PCI addresses, as nvidia-smi and NVML count: of the GPUs that the driver lists below
// `proc` and this process may open in `dev` (/dev), of which a job or a container has its own only; without the driver, of NVIDIA's GPUs in
// `system`. CUDA_VISIBLE_DEVICES, which gives the GPUs of a program other numbers, is not read. If the firmware does not report the node: the
// only node with memory, if there is just one.
Result<uint32_t> node_near_gpu(uint32_t gpu, const std::string& system = "/sys", const std::string& proc = "/proc",
                               const std::string& dev = "/dev");

}  // namespace mlrun::placement
