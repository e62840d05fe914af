// SPDX-License-Identifier: Apache-2.0
// What is known to have kept bytes from being recorded: pauses, children without records, programs that cannot be followed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/spool_index.h"

namespace mlrun::trace {

class UnseenReasons {
 public:
  // with_executed: processes that executed what cannot be followed. Requires: info.processes is complete.
  UnseenReasons(SpoolIndex& index, const model::TraceInfo& info, std::set<int32_t> with_executed);

  // Why bytes of a process may have no record, for a row of coverage.
  [[nodiscard]] std::string why(int32_t proc_id) const;

  // Recording was paused, or ended before the run did.
  [[nodiscard]] bool was_interrupted() const { return was_paused_ || was_stopped_; }

  // Children that recorded nothing.
  void add_children(std::vector<model::CoverageRow>& rows) const;

 private:
  std::map<int32_t, int64_t> silent_;        // children that recorded nothing, by parent
  std::set<int32_t> with_unended_children_;  // parents of processes whose totals nobody knows
  std::set<int32_t> with_executed_;
  bool was_paused_ = false, was_stopped_ = false;
};

}  // namespace mlrun::trace
