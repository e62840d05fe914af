// SPDX-License-Identifier: Apache-2.0
// Ends the processes that a command has left running because its supervisor was killed, alone or with the sweep.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/store/store.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct LeftBehind {
  Processes processes;
  std::vector<std::string> logs;  // files that the command's standard output and error went to
  std::string trace_folder;       // of the command; empty or missing: it was not recorded
};

// Ends the processes of a command and their descendants by SIGKILL and waits until they are gone. A process belongs to the command if one
// of these holds:
//
//   it is a stored one: pid, start time and boot are the same;
//   it is in the session of the stored command, while that exists;
//   it has one of `logs` open for writing as its standard output or error;
//   its environment has the recording session of `trace_folder`;
//   it descends from such a process.
//
// A process that has left all of these by itself (a daemon with a session, files and environment of its own, whose supervisor was
// killed) is not found; another program's process is never taken for one. Fails if one does not end.
Status end_leftovers(const LeftBehind& left);

}  // namespace mlrun::sweep
