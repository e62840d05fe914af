// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/placement.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"

namespace mlrun::launch {

namespace {

using util::IdList, util::kIdsMax;

constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
constexpr const char* kNodes = "/sys/devices/system/node/";
constexpr const char* kCpus = "/sys/devices/system/cpu/";

using Mask = std::array<unsigned long, kIdsMax / kWordBits>;

Mask mask_of(const IdList& ids) {
  Mask mask{};
  for (const uint32_t id : ids) mask[id / kWordBits] |= 1ul << (id % kWordBits);
  return mask;
}

IdList ids_of(const Mask& mask) {
  IdList ids;
  for (uint32_t id = 0; id < kIdsMax; id++) {
    if ((mask[id / kWordBits] >> (id % kWordBits) & 1) != 0) ids.push_back(id);
  }
  return ids;
}

int set_cpus(const Mask& mask) { return ::syscall(SYS_sched_setaffinity, 0, sizeof mask, mask.data()) < 0 ? errno : 0; }

// The headers may be older than these: MPOL_PREFERRED_MANY (Linux 5.15), MPOL_WEIGHTED_INTERLEAVE (6.9), MPOL_F_NUMA_BALANCING (5.12).
constexpr int kPreferredMany = 5, kWeightedInterleave = 6, kNumaBalancing = 1 << 13;

int mode_of(MemoryPolicy policy, bool several) {
  switch (policy) {
    case MemoryPolicy::kBind: return MPOL_BIND;
    case MemoryPolicy::kPreferred: return several ? kPreferredMany : int{MPOL_PREFERRED};
    case MemoryPolicy::kInterleave: return MPOL_INTERLEAVE;
    case MemoryPolicy::kWeightedInterleave: return kWeightedInterleave;
  }
  return MPOL_BIND;
}

int set_memory_nodes(const Mask& mask, int mode) {
  return ::syscall(SYS_set_mempolicy, mode, mask.data(), static_cast<unsigned long>(kIdsMax)) < 0 ? errno : 0;
}

// What the kernel grants of a request, as tried by a temporary thread. `error`: nothing is left of the request, or it is not permitted.
struct Granted {
  IdList ids;
  int error = 0;
};

Granted granted_cpus(const IdList& wanted) {
  Granted granted;
  std::thread([&] {
    Mask mask = mask_of(wanted);
    granted.error = set_cpus(mask);
    if (granted.error != 0) return;
    mask = {};
    if (::syscall(SYS_sched_getaffinity, 0, sizeof mask, mask.data()) < 0) granted.error = errno;
    granted.ids = ids_of(mask);
  }).join();
  return granted;
}

Granted granted_nodes(const IdList& wanted, int mode) {
  Granted granted;
  std::thread([&] {
    Mask mask = mask_of(wanted);
    granted.error = set_memory_nodes(mask, mode);
    if (granted.error != 0) return;
    mask = {};
    int mode_then = 0;
    if (::syscall(SYS_get_mempolicy, &mode_then, mask.data(), static_cast<unsigned long>(kIdsMax), nullptr, 0ul) < 0) {
      granted.error = errno;
    }
    granted.ids = ids_of(mask);
  }).join();
  return granted;
}

IdList without(const IdList& ids, const IdList& others) {
  IdList left;
  std::set_difference(ids.begin(), ids.end(), others.begin(), others.end(), std::back_inserter(left));
  return left;
}

std::string named(const char* noun, const IdList& ids) {
  return fmt::format("{}{} {}", noun, ids.size() > 1 ? "s" : "", util::id_list_text(ids));
}

const char* do_or_does(const IdList& ids) { return ids.size() > 1 ? "do" : "does"; }

Result<IdList> find_nodes(const std::string& list) {
  auto nodes = util::parse_id_list(list);
  if (!nodes) return nodes;
  const IdList online = util::read_id_list(std::string(kNodes) + "online");
  if (online.empty()) return fail("this kernel has no NUMA nodes (there is no /sys/devices/system/node); leave it out");
  const IdList absent = without(*nodes, online);
  if (absent.empty()) return nodes;
  return fail(fmt::format("{} {} not exist; this machine has {}", named("node", absent), do_or_does(absent),
                          named("node", online)));
}

}  // namespace

Result<IdList> find_cpus(const std::string& list) {
  auto cpus = util::parse_id_list(list);
  if (!cpus) return cpus;
  const IdList present = util::read_id_list(std::string(kCpus) + "present"),
               online = util::read_id_list(std::string(kCpus) + "online");
  if (const IdList absent = without(*cpus, present); !absent.empty() && !present.empty()) {
    return fail(fmt::format("{} {} not exist; this machine has {}", named("CPU", absent), do_or_does(absent),
                            named("CPU", online)));
  }
  if (const IdList offline = without(*cpus, online); !offline.empty() && !online.empty()) {
    return fail(fmt::format("{} {} offline; {} online", named("CPU", offline), offline.size() > 1 ? "are" : "is",
                            named("CPU", online) + (online.size() > 1 ? " are" : " is")));
  }
  const Granted granted = granted_cpus(*cpus);
  if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose CPUs here", granted.error);
  if (const IdList denied = without(*cpus, granted.ids); !denied.empty()) {
    return fail(fmt::format("{} may not be used here: the cpuset of this container or service does not contain {}",
                            named("CPU", denied), denied.size() > 1 ? "them" : "it"));
  }
  return cpus;
}

Result<IdList> find_cpus_of_nodes(const std::string& list) {
  const auto nodes = find_nodes(list);
  if (!nodes) return tl::make_unexpected(nodes.error());
  IdList all;
  for (const uint32_t node : *nodes) {
    const IdList cpus = util::read_id_list(fmt::format("{}node{}/cpulist", kNodes, node));
    if (cpus.empty()) return fail(fmt::format("node {} has no CPUs", node));
    const Granted granted = granted_cpus(cpus);
    if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose CPUs here", granted.error);
    if (granted.ids.empty()) {
      return fail(
          fmt::format("the CPUs of node {} ({}) may not be used here: the cpuset of this container or service contains "
                      "none of them",
                      node, util::id_list_text(cpus)));
    }
    all.insert(all.end(), granted.ids.begin(), granted.ids.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

Result<IdList> find_memory_nodes(const std::string& list) {
  auto nodes = find_nodes(list);
  if (!nodes) return nodes;
  if (const IdList empty = without(*nodes, util::read_id_list(std::string(kNodes) + "has_memory")); !empty.empty()) {
    return fail(fmt::format("{} {} no memory", named("node", empty), empty.size() > 1 ? "have" : "has"));
  }
  const Granted granted = granted_nodes(*nodes, MPOL_BIND);
  if (granted.error != 0 && granted.error != EINVAL) return fail_errno("choose nodes of memory here", granted.error);
  if (const IdList denied = without(*nodes, granted.ids); !denied.empty()) {
    return fail(
        fmt::format("memory of {} may not be used here: the cpuset of this container or service does not contain {}",
                    named("node", denied), denied.size() > 1 ? "them" : "it"));
  }
  return nodes;
}

int Placement::apply() const {
  if (!cpus.empty()) {
    if (const int error = set_cpus(mask_of(cpus)); error != 0) return error;
  }
  return mem_nodes.empty() ? 0 : set_memory_nodes(mask_of(mem_nodes), mode_of(policy, mem_nodes.size() > 1));
}

const char* policy_name(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::kBind: return "mem-node";
    case MemoryPolicy::kPreferred: return "preferred";
    case MemoryPolicy::kInterleave: return "interleave";
    case MemoryPolicy::kWeightedInterleave: return "weighted-interleave";
  }
  return "";
}

bool kernel_has(MemoryPolicy policy, const IdList& nodes) {
  return granted_nodes(nodes, mode_of(policy, nodes.size() > 1)).error != EINVAL;
}

const char* policy_remedy(MemoryPolicy policy) {
  return policy == MemoryPolicy::kWeightedInterleave ? "Linux 6.9 has it"
                                                     : "several nodes need Linux 5.15, one node does not";
}

std::string interleave_weights() {
  std::string text;
  for (const uint32_t node : util::read_id_list(std::string(kNodes) + "has_memory")) {
    const std::string weight =
        util::read_line(fmt::format("/sys/kernel/mm/mempolicy/weighted_interleave/node{}", node));
    if (!weight.empty()) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", node, weight);
  }
  return text;
}

bool policy_stops_balancing() {
  int mode = MPOL_DEFAULT;  // a container may forbid the call; then the default is likely
  ::syscall(SYS_get_mempolicy, &mode, nullptr, 0ul, nullptr, 0ul);
  return mode != MPOL_DEFAULT && (mode & kNumaBalancing) == 0;
}

std::optional<uint64_t> kib_of_node(uint32_t node, const std::string& system) {
  const std::string text = util::read_text(fmt::format("{}/devices/system/node/node{}/meminfo", system, node));
  // "Node 0 MemTotal:  8145420 kB"
  const auto words = util::status_words(text, fmt::format("Node {} MemTotal:", node));
  return words.empty() ? std::nullopt : util::whole_number<uint64_t>(words.front());
}

namespace {

// Nodes and policy of one of the options; the kernel may be too old for it.
Status take_policy(const std::string& list, MemoryPolicy policy, Placement& placement) {
  if (list.empty()) return {};
  auto nodes = find_memory_nodes(list);
  if (!nodes) return fail(fmt::format("--{} {}: {}", policy_name(policy), list, nodes.error().text));
  if (!placement.mem_nodes.empty()) {
    return fail(fmt::format("--{} and --{} both choose nodes of memory: give one of them",
                            policy_name(placement.policy), policy_name(policy)));
  }
  if (!kernel_has(policy, *nodes)) {
    return fail(
        fmt::format("--{} {}: this kernel lacks that policy; {}", policy_name(policy), list, policy_remedy(policy)));
  }
  placement.mem_nodes = *std::move(nodes);
  placement.policy = policy;
  return {};
}

}  // namespace

Result<Placement> find_placement(const PlacementTexts& texts) {
  Placement placement;
  const bool by_node = !texts.cpu_node.empty();
  if (const std::string& list = by_node ? texts.cpu_node : texts.cpus; !list.empty()) {
    auto found = by_node ? find_cpus_of_nodes(list) : find_cpus(list);
    if (!found) return fail(fmt::format("{} {}: {}", by_node ? "--cpu-node" : "--cpus", list, found.error().text));
    placement.cpus = *std::move(found);
  }
  Status taken = take_policy(texts.mem_node, MemoryPolicy::kBind, placement);
  if (taken) taken = take_policy(texts.preferred, MemoryPolicy::kPreferred, placement);
  if (taken) taken = take_policy(texts.interleave, MemoryPolicy::kInterleave, placement);
  if (taken) taken = take_policy(texts.weighted_interleave, MemoryPolicy::kWeightedInterleave, placement);
  if (!taken) return tl::make_unexpected(taken.error());
  return placement;
}

}  // namespace mlrun::launch
