// SPDX-License-Identifier: Apache-2.0
// Messages between a sweep and the supervisor of a run, over a SOCK_SEQPACKET socket. When the sweep's end closes, as it does when the
// sweep is killed, the supervisor ends the run with all its descendants, and then itself.
//
//   supervisor   kReady ─────────────────────────> kEnded ──> kGone, exit
//   sweep                 'g' [ 't' ] [ 'k' ]
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace mlrun::sweep {

enum class Demand : char {
  kGo = 'g',    // the command, which is held before its exec, may begin
  kTerm = 't',  // SIGTERM to the command's process group
  kKill = 'k'   // SIGKILL to the command and all its descendants
};

enum class Stage : uint32_t {
  kReady,   // the command's process exists, and waits for kGo before its exec
  kNoExec,  // exec failed with error_number
  kEnded,   // the command has ended
  kGone     // all descendants of the command have ended, too
};

struct Report {
  Stage stage = Stage::kReady;
  int32_t pid = 0;
  uint64_t start_ticks = 0;
  int32_t error_number = 0;
  int32_t wait_status = 0;
  uint64_t started_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC
  rusage usage{};                         // of the command and the descendants that it waited for
  // Read from devices by the same processes, as /proc/PID/io counts; -1: unknown.
  int64_t read_bytes = -1;
  int32_t left_running = 0;  // kGone: descendants that outlived the command and were ended
};

}  // namespace mlrun::sweep
