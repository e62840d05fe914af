// SPDX-License-Identifier: Apache-2.0
// The command and its descendants as mlrun saw them from outside (session.json, watched), whether they recorded or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

struct WatchedProcess {
  int32_t pid = 0, ppid = 0, ns_pid = 0;  // pid and ppid as mlrun sees them
  int64_t pid_namespace = 0, start_ticks = 0;
  std::string exe, comm;
  bool is_command = false;
  bool is_alive = false;  // when the run ended
  bool is_final = false;  // io is of its end, else of a look before
  KernelIo io;            // -1: could not be read
  int32_t proc_id = 0;    // of the process that recorded; 0: it recorded nothing
};

// Requires: info.processes is complete.
std::vector<WatchedProcess> read_watched(const SessionInfo& session, const model::TraceInfo& info);

}  // namespace mlrun::trace
