// SPDX-License-Identifier: Apache-2.0
// On which processors the command runs, and from which NUMA nodes its memory comes. Both are inherited by all that it starts.
// The kernel drops CPUs and nodes that do not exist or are not allowed, without an error: each is checked here first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::launch {

// Numbers of CPUs or nodes, ascending, each once.
using IdList = std::vector<uint32_t>;

// "0-3,8", as the kernel writes it.
Result<IdList> parse_id_list(const std::string& text);
std::string id_list_text(const IdList& ids);

// The CPUs of a list; of nodes, those that this process may use; the nodes of a list as sources of memory. An error is without
// the option's name.
Result<IdList> find_cpus(const std::string& list);
Result<IdList> find_cpus_of_nodes(const std::string& list);
Result<IdList> find_memory_nodes(const std::string& list);

struct Placement {
  IdList cpus;       // empty: all
  IdList mem_nodes;  // empty: any

  [[nodiscard]] bool any() const { return !cpus.empty() || !mem_nodes.empty(); }

  // Places this thread, and what it becomes by exec. To be called in the child: makes system calls alone. 0, or an errno.
  [[nodiscard]] int apply() const;
};

// Of --cpus, --cpu-node and --mem-node; an empty text is an option that was not given. Requires: not both of the first two.
Result<Placement> find_placement(const std::string& cpus, const std::string& cpu_node, const std::string& mem_node);

}  // namespace mlrun::launch
