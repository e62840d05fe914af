// SPDX-License-Identifier: Apache-2.0
// The traces and sweeps in a folder, as `mlrun list` shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/report/text/text_style.h"
#include "runner/util/result.h"
#include "runner/view/trace_state.h"

namespace mlrun::view {

struct ListedTrace {
  std::string name;    // name of the trace's folder
  std::string folder;  // path of the trace's folder, as an argument for verbs
  TraceState state = TraceState::kNone;
  bool is_sweep = false;  // a sweep instead of a trace: only name, folder and size are set
  model::Run run;
  int64_t size_bytes = 0;
  // The trace is of a newer version that this build cannot read: the error; `run` is empty.
  std::optional<Error> newer = {};
  std::optional<bool> complete = {};  // nothing was lost, and nothing is known to be unseen; nullopt: not in run.json
};

// Sorted by name. If the folder itself is a trace or a sweep, returns only that. Fails if the folder cannot be read.
Result<std::vector<ListedTrace>> traces_in(const std::string& folder);

// `cut`: commands are cut at the style's width.
[[nodiscard]] std::string list_text(const std::vector<ListedTrace>& traces, const std::string& folder,
                                    const report::TextStyle& style, bool cut);

// {"traces": [{folder, command, started, exit_status, wall_ns, bytes, complete}], "sweeps": [{folder, bytes}]}; unknown values are
// null.
[[nodiscard]] std::string list_json(const std::vector<ListedTrace>& traces);

}  // namespace mlrun::view
