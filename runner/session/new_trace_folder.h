// SPDX-License-Identifier: Apache-2.0
// Creates the trace folder of a run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::session {

// The logs that a sweep writes into the trace folder of a run before the run begins.
inline constexpr std::array<std::string_view, 3> kLogsOfSweep = {"cmd.log", "console.log", "error.log"};
bool is_log_of_sweep(std::string_view name);

// Refuses a file and a folder that is not empty (but for logs of a sweep): nothing is overwritten. To be called before the command starts.
Status check_asked_folder(const std::optional<std::string>& asked);

// Makes the folder (0755) and returns its absolute path. A folder named by the user must be empty or not exist; without
// one it is mlrun-NAME-N with the first free N, in the current folder. NAME is the file name in `name` (trace_name.h),
// with - for all but letters, digits and . _ +.
Result<std::string> make_trace_folder(const std::optional<std::string>& asked, const std::string& name);

// Removes the trace folder of a run that did not start, if it is empty and make_trace_folder made it. Requires: constructed before that.
class NewFolder {
 public:
  explicit NewFolder(const std::optional<std::string>& asked);
  void take_back(const std::string& folder) const;

 private:
  bool was_there_;
};

}  // namespace mlrun::session
