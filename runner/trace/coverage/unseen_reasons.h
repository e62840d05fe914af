// SPDX-License-Identifier: Apache-2.0
// Finds the likely reasons for a process's unrecorded bytes: pauses, children without records, untraceable programs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/coverage/executed_programs.h"
#include "runner/trace/coverage/waited_children.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

class UnseenReasons {
 public:
  // Requires: all rows were added to `programs`; info.processes is complete.
  UnseenReasons(SpoolIndex& index, const model::TraceInfo& info, const ExecutedPrograms& programs);

  // Text for a row of coverage: why bytes of this process may be unrecorded.
  [[nodiscard]] std::string why(int32_t proc_id) const;

  // Whether recording was paused, or ended before the run did.
  [[nodiscard]] bool was_interrupted() const { return was_paused_ || was_stopped_; }

  // Adds rows for children that recorded nothing, except children whose program ExecutedPrograms names. `waited`: the
  // children that moved no bytes, by the totals of their parents.
  void add_children(const WaitedChildren& waited, std::vector<model::CoverageRow>& rows) const;

 private:
  struct Children {
    int64_t all = 0;
    std::vector<int32_t> unseen;  // pids of the children that recorded nothing
  };
  std::map<int32_t, Children> children_;     // by parent
  std::set<int32_t> with_unended_children_;  // proc_id of the parents of processes whose totals are unknown
  std::set<int32_t> with_executed_, with_unseen_;
  bool was_paused_ = false, was_stopped_ = false;
};

}  // namespace mlrun::trace
