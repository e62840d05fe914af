// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/kinds.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "runner/launch/placement.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/memory_kinds.h"
#include "runner/util/proc_lines.h"
#include "runner/util/units.h"

namespace mlrun::placement {

namespace {

constexpr int64_t kHighBandwidthMiB = 200 * 1024;  // per second; memkind's limit

using Nodes = util::IdList;

// -1: the file has no number.
int64_t number_of(const std::string& path) {
  const std::string text = util::read_line(path);
  int64_t number = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : -1;
}

class Sysfs {
 public:
  explicit Sysfs(std::string root) : root_(std::move(root)) {}

  [[nodiscard]] Nodes with_memory() const { return util::read_id_list(root_ + "/devices/system/node/has_memory"); }
  [[nodiscard]] Nodes with_cpus() const { return util::read_id_list(root_ + "/devices/system/node/has_cpu"); }
  [[nodiscard]] int64_t firmware_says(uint32_t node, const char* what) const {
    return firmware_value(node, what, root_);
  }
  [[nodiscard]] int64_t kib(uint32_t node) const {
    const auto kib = launch::kib_of_node(node, root_);
    return kib ? static_cast<int64_t>(*kib) : -1;
  }
  [[nodiscard]] std::set<uint32_t> dax_nodes() const {
    std::set<uint32_t> nodes;
    std::error_code ignored;
    for (const auto& device : std::filesystem::directory_iterator(root_ + "/bus/dax/devices", ignored)) {
      const auto driver = std::filesystem::read_symlink(device.path() / "driver", ignored);
      const int64_t node = number_of((device.path() / "target_node").string());
      if (driver.filename() == "kmem" && node >= 0) nodes.insert(static_cast<uint32_t>(node));
    }
    return nodes;
  }

 private:
  std::string root_;
};

// The nodes with the best value. A value of -1 is unknown.
Nodes best(const Nodes& nodes, const std::function<int64_t(uint32_t)>& value, bool largest) {
  int64_t found = -1;
  for (const uint32_t node : nodes) {
    const int64_t now = value(node);
    if (now >= 0 && (found < 0 || (largest ? now > found : now < found))) found = now;
  }
  Nodes result;
  for (const uint32_t node : nodes) {
    if (found >= 0 && value(node) == found) result.push_back(node);
  }
  return result;
}

// Cuts the nodes down to those that the cpuset lets this process use. A kernel without cpusets has none that it refuses.
Nodes allowed_of(const Nodes& nodes, const std::string& proc) {
  const std::string status = util::read_text(proc + "/self/status");
  const auto words = util::status_words(status, "Mems_allowed_list:");
  if (words.empty()) return nodes;
  const Nodes allowed = util::parse_id_list(words.front()).value_or(Nodes());
  Nodes result;
  std::set_intersection(nodes.begin(), nodes.end(), allowed.begin(), allowed.end(), std::back_inserter(result));
  return result;
}

// The variable, of memkind, in which the user can name the nodes of this kind; nullptr: there is none.
const char* variable_of(const std::string& kind) {
  if (kind == "hbw") return "MEMKIND_HBW_NODES";
  return kind == "dax-kmem" ? "MEMKIND_DAX_KMEM_NODES" : nullptr;
}

// memory: the nodes to choose from. Named ones of which none can be chosen stay: the check of the rule says why.
Nodes named_nodes(const Nodes& memory, const char* named) {
  const Nodes all = util::parse_id_list(named).value_or(Nodes());
  Nodes usable;
  std::set_intersection(memory.begin(), memory.end(), all.begin(), all.end(), std::back_inserter(usable));
  return usable.empty() ? all : usable;
}

Nodes high_bandwidth(const Sysfs& sysfs, const Nodes& memory) {
  const auto bandwidth = [&](uint32_t node) { return sysfs.firmware_says(node, "read_bandwidth"); };
  int64_t ordinary = -1;
  for (const uint32_t node : sysfs.with_cpus()) ordinary = std::max(ordinary, bandwidth(node));
  Nodes result;
  for (const uint32_t node : best(memory, bandwidth, true)) {
    if (bandwidth(node) >= kHighBandwidthMiB && bandwidth(node) > ordinary) result.push_back(node);
  }
  return result;
}

struct Found {
  Nodes nodes;
  std::string lacking;
};

Found find(const std::string& kind, const Sysfs& sysfs, const Nodes& memory) {
  const char* const variable = variable_of(kind);
  const char* const named = variable != nullptr ? std::getenv(variable) : nullptr;
  if (named != nullptr)
    return {named_nodes(memory, named), fmt::format("{} is no list of nodes, such as 2 or 2,3", variable)};
  if (kind == "highest-capacity")
    return {best(
                memory, [&](uint32_t node) { return sysfs.kib(node); }, true),
            "no node has memory"};
  if (kind == "lowest-latency") {
    const auto latency = [&](uint32_t node) { return sysfs.firmware_says(node, "read_latency"); };
    const bool is_complete =
        std::all_of(memory.begin(), memory.end(), [&](uint32_t node) { return latency(node) >= 0; });
    return {is_complete ? best(memory, latency, false) : Nodes(),
            "the firmware does not report the latency of each node (HMAT)"};
  }
  if (kind == "hbw")
    return {high_bandwidth(sysfs, memory),
            "the firmware's table (HMAT) has no node with 200 GB/s or more and a higher bandwidth than the nodes with "
            "CPUs, and MEMKIND_HBW_NODES is not set"};
  Nodes nodes;
  if (kind == "regular") {
    const Nodes cpus = sysfs.with_cpus();
    std::set_intersection(memory.begin(), memory.end(), cpus.begin(), cpus.end(), std::back_inserter(nodes));
    return {nodes, "no node has CPUs and memory"};
  }
  for (const uint32_t node : sysfs.dax_nodes()) {
    if (std::find(memory.begin(), memory.end(), node) != memory.end()) nodes.push_back(node);
  }
  return {nodes,
          "no dax device is used as memory (daxctl reconfigure-device --mode=system-ram), and MEMKIND_DAX_KMEM_NODES "
          "is not set"};
}

}  // namespace

// access1 is about CPUs. access0, all that there is before Linux 5.10, can be about a GPU or another device that is nearer.
int64_t firmware_value(uint32_t node, const char* what, const std::string& system) {
  for (const char* const level : {"access1", "access0"}) {
    const int64_t value =
        number_of(fmt::format("{}/devices/system/node/node{}/{}/initiators/{}", system, node, level, what));
    if (value >= 0) return value;
  }
  return -1;
}

Nodes allowed_nodes(const std::string& system, const std::string& proc) {
  return allowed_of(Sysfs(system).with_memory(), proc);
}

bool is_kind(const std::string& name) {
  return std::find(util::kMemoryKinds.begin(), util::kMemoryKinds.end(), name) != util::kMemoryKinds.end();
}

Result<Nodes> nodes_of_kind(const std::string& kind, const std::string& system, const std::string& proc) {
  const Sysfs sysfs(system);
  const Nodes allowed = allowed_nodes(system, proc);
  Found found = find(kind, sysfs, allowed);
  if (!found.nodes.empty()) return std::move(found.nodes);
  if (find(kind, sysfs, sysfs.with_memory()).nodes.empty())
    return fail(fmt::format("this machine has no {} memory: {}", kind, found.lacking));
  return fail(
      fmt::format("no {} memory may be used here: the cpuset of this container or service has node {} alone; {}", kind,
                  util::id_list_text(allowed), found.lacking));
}

namespace {

struct Gpu {
  std::string path;    // in sysfs
  std::string device;  // the file by which it is opened; "": unknown
};

// By address: domain:bus:device.function.
std::vector<Gpu> gpus_of_driver(const std::string& devices, const std::string& proc, const std::string& dev) {
  std::vector<Gpu> gpus;
  std::error_code ignored;
  for (const auto& gpu : std::filesystem::directory_iterator(proc + "/driver/nvidia/gpus", ignored)) {
    const std::string information = util::read_text((gpu.path() / "information").string());
    const auto minor = util::status_words(information, "Device Minor:");
    gpus.push_back({devices + gpu.path().filename().string(),
                    minor.empty() ? "" : fmt::format("{}/nvidia{}", dev, minor.front())});
  }
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.path < b.path; });
  return gpus;
}

// The driver lists the machine's GPUs to a job or container that may open some of them alone, which CUDA and NVML count. It makes their files when a
// GPU is first used: without any, none is refused.
std::vector<Gpu> allowed_gpus(const std::vector<Gpu>& gpus) {
  const bool has_files =
      std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return ::access(gpu.device.c_str(), F_OK) == 0; });
  std::vector<Gpu> allowed;
  for (const Gpu& gpu : gpus) {
    if (!has_files || gpu.device.empty() || ::access(gpu.device.c_str(), R_OK | W_OK) == 0) allowed.push_back(gpu);
  }
  return allowed;
}

std::vector<Gpu> gpus_in_sysfs(const std::string& devices) {
  std::vector<Gpu> gpus;
  std::error_code ignored;
  for (const auto& device : std::filesystem::directory_iterator(devices, ignored)) {
    const std::string path = device.path().string();
    const bool is_virtual_function = std::filesystem::exists(path + "/physfn", ignored);
    if (util::read_line(path + "/vendor") == "0x10de" && util::read_line(path + "/class").starts_with("0x03") &&
        !is_virtual_function)
      gpus.push_back({path, ""});
  }
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.path < b.path; });
  return gpus;
}

}  // namespace

Result<uint32_t> node_near_gpu(uint32_t gpu, const std::string& system, const std::string& proc,
                               const std::string& dev) {
  const std::string devices = system + "/bus/pci/devices/";
  std::vector<Gpu> all = gpus_of_driver(devices, proc, dev);
  if (all.empty()) all = gpus_in_sysfs(devices);
  const std::vector<Gpu> gpus = allowed_gpus(all);
  if (gpu >= gpus.size())
    return fail(fmt::format("GPU {} does not exist; this machine has {}{}", gpu,
                            util::counted(int64_t(all.size()), "NVIDIA GPU"),
                            gpus.size() == all.size() ? "" : fmt::format(", and {} may be opened here", gpus.size())));
  const int64_t node = number_of(gpus[gpu].path + "/numa_node");
  if (node >= 0) return static_cast<uint32_t>(node);
  // Firmware of machines with one node, virtual ones above all, often leaves the number out.
  const Nodes memory = Sysfs(system).with_memory();
  if (memory.size() == 1) return memory.front();
  return fail(
      fmt::format("the firmware does not say which node GPU {} is near to (numa_node is -1), and this machine "
                  "has {} nodes with memory; name the node (node N)",
                  gpu, memory.size()));
}

}  // namespace mlrun::placement
