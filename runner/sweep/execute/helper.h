// SPDX-License-Identifier: Apache-2.0
// Helpers are commands that a sweep runs beside its runs: `before`, `after`, a warm-up, a recovery. Also the state that all commands of a
// sweep share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/execute/progress.h"
#include "runner/sweep/execute/stop_signals.h"
#include "runner/sweep/plan/plan.h"
#include "runner/sweep/store/run_log.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Belongs to one sweep, while its runs are made.
struct Making {
  std::string folder;  // OUT, absolute
  RunLog& store;
  StopSignals& signals;
  Progress& progress;
  // Path prefix, below OUT, of helper logs and of the warm-up folder, since runs on several machines share OUT.
  std::string prefix = {};

  [[nodiscard]] const Plan& plan() const { return store.plan(); }
  [[nodiscard]] const Configuration& configuration(const RunRow& run) const {
    return plan().configurations[run.planned.configuration];
  }
  [[nodiscard]] std::string helper_log(const std::string& name) const { return folder + "/" + prefix + name + ".log"; }
  [[nodiscard]] std::string warm_up_folder() const { return folder + "/" + prefix + "warm_up"; }
  [[nodiscard]] std::string folder_of(const RunRow& run) const { return folder + "/runs/" + run.planned.folder; }
};

struct HelperEnd {
  int wait_status = 0;
  bool timed_out = false;  // it was ended at its time limit
};

// Runs a command until it and its descendants have ended; both outputs go to the file `output`. It is ended after `limit_ns`; 0: no
// limit. nullopt: a signal stopped the sweep, and the command was ended.
Result<std::optional<HelperEnd>> run_helper(Making& making, const Words& command,
                                            const std::map<std::string, std::string>& environment,
                                            const std::string& output, uint64_t limit_ns = 0);

// Runs `mlrun recover` on the trace of a run that was killed while it recorded, which also frees its shared memory. Does nothing without
// session.json.
Status recover_half_trace(Making& making, const std::string& trace_folder);

// "exit status 3", "signal 9 (Killed)".
std::string end_text(int wait_status);

// Free space of the folder's file system.
uint64_t free_bytes(const std::string& folder);

// With less free space than this no run is started, and a run that failed or was recorded counts as interrupted by a full disk.
inline constexpr uint64_t kRoomBytes = 4 << 20;
Error disk_full(const std::string& folder);

}  // namespace mlrun::sweep
