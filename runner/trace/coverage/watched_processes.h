// SPDX-License-Identifier: Apache-2.0
// The command and its descendants as observed by mlrun (session.json, watched), whether they recorded or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/identity/process_facts.h"

namespace mlrun::trace {

struct WatchedProcess {
  int32_t pid = 0, ppid = 0, ns_pid = 0;  // pid and ppid in mlrun's namespace
  int64_t pid_namespace = 0, start_ticks = 0;
  std::string exe, comm;
  bool is_command = false;
  bool is_alive = false;  // at the end of the run
  bool is_final = false;  // `io` was read at the end of the process, not before
  KernelIo io;            // fields -1: /proc/PID/io could not be read
  int32_t proc_id = 0;    // of the recording process; 0: it recorded nothing
};

// Requires: info.processes is complete.
std::vector<WatchedProcess> read_watched(const model::Run& session, const model::TraceInfo& info);

}  // namespace mlrun::trace
