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

// Ends the processes of a command and their descendants by SIGKILL and waits until they are gone. A process is of the command if
// it
//
//   is the stored one, by pid, start time and boot; descends from it; is in its session while that exists;
//   has one of the logs open for writing as its standard output or error;
//   or was started with the recording session of that trace in its environment.
//
// A process that has left all of these by itself (a daemon with a session, files and environment of its own, whose supervisor was
// killed) is not found; another program's process is never taken for one. Fails if one does not end.
Status end_leftovers(const LeftBehind& left);

}  // namespace mlrun::sweep
