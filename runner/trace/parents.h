// SPDX-License-Identifier: Apache-2.0
// Who made whom.
#pragma once

#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/channel_table.h"
#include "runner/trace/process_facts.h"

namespace mlrun::trace {

// Fills parent_proc_id: the process whose fork, vfork or posix_spawn returned the child's pid last before the child
// began; where no such call was recorded, the process with the pid that the child gave as its parent's. Requires: the
// channels have their origins.
void find_parents(std::vector<model::ProcessRow>& processes, const std::vector<ChildFact>& children,
                  const std::vector<Channel>& channels);

}  // namespace mlrun::trace
