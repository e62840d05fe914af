// SPDX-License-Identifier: Apache-2.0
// One way to see which memory is accessed. All are used by the access sampler's thread only, but for attach(), which comes before.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runner/events/access_sample.h"

namespace mlrun::access {

using Rows = std::vector<mlrun_access_sample>;

// The largest share of a processor's time that a rung may take from the program.
inline constexpr double kProgramShare = 0.01;

// What it did to the program, and how much of the time it saw.
struct RungFacts {
  std::string cost;  // in one line, as it was calibrated or measured
  uint64_t samples = 0,
           left_out = 0;  // windows; those that were not taken, because of their stall; rests of events; processes
  uint64_t lost = 0;      // samples that did not fit the buffer
  uint64_t on_ns = 0, all_ns = 0;  // of the time, how long it could see; windows: added up over processes
  uint64_t sample_ns = 0;          // calibrated, for each sample; 0: not calibrated
  uint64_t page_clear_ps = 0,
           page_touch_ps = 0;  // calibrated, for each page: to clear it, and its first touch thereafter
  uint64_t predicted_stall_ns = 0, worst_stall_ns = 0;  // longest calls that hold page faults back
  uint64_t worst_read_ns = 0;  // longest read that holds calls back which change the program's mappings
  std::string problem;         // why it ended early
};

class Rung {
 public:
  Rung() = default;
  virtual ~Rung() = default;
  Rung(const Rung&) = delete;
  Rung& operator=(const Rung&) = delete;

  // The command has been created and has not begun. Returns what failed; empty: nothing.
  virtual std::string attach(pid_t /*command*/) { return {}; }
  // Sets the processes of the command, by their pids as mlrun sees them.
  virtual void watch(const std::vector<uint32_t>& /*host_pids*/) {}
  // Adds what was seen since the previous call. Returns when it is to be called again.
  virtual uint64_t sample(uint64_t now_ns, Rows& rows) = 0;
  // The command has ended.
  virtual void finish(uint64_t now_ns, Rows& rows) { sample(now_ns, rows); }
  [[nodiscard]] virtual RungFacts facts() const = 0;
};

}  // namespace mlrun::access
