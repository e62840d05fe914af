// SPDX-License-Identifier: Apache-2.0
// Writes the tables access and access_site from the spool and the table of allocations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/access/access_join.h"
#include "runner/trace/access/access_row.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// What the gap stopped: `mlrun pause` until it was resumed, a full spool or disk all that followed. nullopt: it stopped no recording.
std::optional<RecordingPause> pause_of(const mlrun_frame_gap& gap);
// All pauses of the run.
std::vector<RecordingPause> pauses_of(const SpoolIndex& index);

class AccessPass {
 public:
  // Both tables have a file even without rows. Requires: `alloc` is written; processes and threads are known. `folder`: of the trace.
  Status run(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
             const std::string& folder);

  // Adds the numbers of rows and the sums by rung and site to `access` of run.json. Requires: stacks are symbolized.
  void describe(const model::TraceInfo& info, nlohmann::json& run) const;
  // Rows about what each rung (method of --access) cannot see, lost or left out, and about rungs that were asked for and not used.
  [[nodiscard]] std::vector<model::CoverageRow> coverage(const model::Run& session) const;
  [[nodiscard]] uint64_t damaged_rows() const { return damaged_rows_; }

 private:
  struct Rows {
    int64_t all = 0, joined = 0;  // joined: some listed block was there
  };
  std::vector<AccessSiteRow> sites_;
  std::map<uint16_t, Rows> rows_;  // by rung
  uint64_t damaged_rows_ = 0;
  bool was_paused_ = false;  // or stopped
};

}  // namespace mlrun::trace
