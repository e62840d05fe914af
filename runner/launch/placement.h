// SPDX-License-Identifier: Apache-2.0
// On which CPUs the command runs, and from which NUMA nodes its memory comes. All processes that it starts inherit both. The kernel
// silently drops CPUs and nodes that do not exist or are not allowed, so each is checked here first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/util/id_list.h"
#include "runner/util/result.h"

namespace mlrun::launch {

// CPUs of a list of CPUs; CPUs of a list of nodes that this process may use; a list of nodes as sources of memory. Errors do not name the
// option.
Result<util::IdList> find_cpus(const std::string& list);
Result<util::IdList> find_cpus_of_nodes(const std::string& list);
Result<util::IdList> find_memory_nodes(const std::string& list);

// What the kernel does with the nodes of a list.
enum class MemoryPolicy {
  kBind,               // memory from these nodes only
  kPreferred,          // from these nodes first, from others when they are full
  kInterleave,         // from these nodes in turn, page by page
  kWeightedInterleave  // the same, by the weights of this machine (Linux 6.9)
};
const char* policy_name(MemoryPolicy policy);  // as the option is called, without its dashes

// Whether this kernel has the policy, for one node or for several.
bool kernel_has(MemoryPolicy policy, const util::IdList& nodes);

// What to do on a kernel that lacks it. Requires: kPreferred with several nodes, or kWeightedInterleave; all others are older than any kernel
// that mlrun runs on.
const char* policy_remedy(MemoryPolicy policy);

// "0:3,1:1": the weights of this machine; empty: it has none.
std::string interleave_weights();

// Whether NUMA balancing skips the memory of this thread and of what it starts, because of a policy other than the default, as numactl sets.
bool policy_stops_balancing();

// The memory of a node in all, in KiB; nullopt: unknown. `system`: /sys, but for tests.
std::optional<uint64_t> kib_of_node(uint32_t node, const std::string& system = "/sys");

struct Placement {
  util::IdList cpus;       // empty: all
  util::IdList mem_nodes;  // empty: any
  MemoryPolicy policy = MemoryPolicy::kBind;

  [[nodiscard]] bool any() const { return !cpus.empty() || !mem_nodes.empty(); }

  // Places this thread, and what it becomes by exec. To be called in the child: makes system calls alone. 0, or an errno.
  [[nodiscard]] int apply() const;
};

// The options of these names; an empty text is an option that was not given. Requires: not both of the first two.
struct PlacementTexts {
  std::string cpus, cpu_node, mem_node, preferred, interleave, weighted_interleave;
};
Result<Placement> find_placement(const PlacementTexts& texts);

}  // namespace mlrun::launch
