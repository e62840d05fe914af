// SPDX-License-Identifier: Apache-2.0
// Between a sweep and the supervisor of a run, over a socket of type SOCK_SEQPACKET. When the sweep's end closes, as it does when
// the sweep is killed, the supervisor ends the run with all its descendants, and then itself.
//
//   supervisor   kReady ─────────────────────────> kEnded ──> kGone, exit
//   sweep                 'g' [ 't' ] [ 'k' ]
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace mlrun::sweep {

enum class Demand : char {
  kGo = 'g',    // the command, which is held before its exec, may begin
  kTerm = 't',  // SIGTERM to its process group
  kKill = 'k'   // SIGKILL to it and all its descendants
};

enum class Stage : uint32_t {
  kReady,   // the process exists, and waits for kGo
  kNoExec,  // it could not execute its program: error_number
  kEnded,   // the command has ended
  kGone     // and so have all its descendants
};

struct Report {
  Stage stage = Stage::kReady;
  int32_t pid = 0;
  uint64_t start_ticks = 0;
  int32_t error_number = 0;
  int32_t wait_status = 0;
  uint64_t started_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC
  rusage usage{};                         // of the command and the descendants that it waited for
  int64_t read_bytes = -1;                // of the same, from devices, as /proc/PID/io counts them; -1: unknown
  int32_t left_running = 0;               // kGone: descendants that outlived the command and were ended
};

}  // namespace mlrun::sweep
