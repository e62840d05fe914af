// SPDX-License-Identifier: Apache-2.0
// Finds the parent of each process.
#pragma once

#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/spool/spool_channels.h"

namespace mlrun::trace {

// Fills parent_proc_id: the process whose fork, vfork or posix_spawn last returned the child's pid before the child
// began; if no such call was recorded, the process with the child's recorded ppid. Fills proc_id of the children that
// have process rows. In a new pid namespace the first process has another pid than its parent's call returned: it
// becomes the child that matches no other process. Requires: the channels have their origins.
void find_parents(std::vector<model::ProcessRow>& processes, std::vector<ChildFact>& children,
                  const std::vector<Channel>& channels);

}  // namespace mlrun::trace
