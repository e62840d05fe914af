// SPDX-License-Identifier: Apache-2.0
// The folder of a run, OUT/runs/NAME, and the logs in it.
#pragma once

#include <string>
#include <string_view>

#include "runner/sweep/execute/helper.h"
#include "runner/sweep/execute/supervised.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Creates an empty folder. Logs of a run that did not begin are replaced; a folder with anything else is moved to NAME.left-N.
Status make_run_folder(const std::string& out, const std::string& name);

// Renames the folder of a failed attempt to the name that the database has for it (failed_folder()).
Status move_failed_folder(const std::string& out, const RunRow& failed);

Status write_log(const std::string& path, std::string_view text);

// The last line that is not empty, at most 200 bytes of it, for messages.
std::string last_line(const std::string& path);

// The text of cmd.log: a shell command that repeats the run.
std::string command_text(const Making& making, const RunRow& run, const SuperviseOptions& options);

}  // namespace mlrun::sweep
