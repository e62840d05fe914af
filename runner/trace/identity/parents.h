// SPDX-License-Identifier: Apache-2.0
// Who made whom.
#pragma once

#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/spool/spool_channels.h"

namespace mlrun::trace {

// Fills parent_proc_id: the process whose fork, vfork or posix_spawn returned the child's pid last before the child
// began; where no such call was recorded, the process with the pid that the child gave as its parent's. Fills proc_id of
// the children that are among the processes. The first process of a pid namespace is numbered there otherwise than the
// call of its parent's says: it is the child that no other process is. Requires: the channels have their origins.
void find_parents(std::vector<model::ProcessRow>& processes, std::vector<ChildFact>& children,
                  const std::vector<Channel>& channels);

}  // namespace mlrun::trace
