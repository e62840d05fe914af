// SPDX-License-Identifier: Apache-2.0
// A rung: one mechanism that sees which memory is accessed. Only the access sampler's thread uses it, except for attach(), which is called before
// that thread starts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runner/events/access_sample.h"

namespace mlrun::access {

using Rows = std::vector<mlrun_access_sample>;

// The largest share of the program's time that a rung may cost it.
inline constexpr double kProgramShare = 0.01;

// What a rung did to the program, and how much of the time it could see accesses.
struct RungFacts {
  std::string cost;  // one line: the calibrated or measured cost
  // `samples`: windows, or starts of DAMON. `left_out`: windows skipped because of their stall, times that events were
  // switched off, or processes beyond DAMON's limit.
  uint64_t samples = 0, left_out = 0;
  uint64_t lost = 0;               // samples that did not fit into the buffer
  uint64_t on_ns = 0, all_ns = 0;  // time in which accesses were seen; all time. Windows: sums over processes
  uint64_t sample_ns = 0;          // calibrated cost of a sample; 0: not calibrated
  // Calibrated cost of a page: to clear its bit, and of its first touch after that.
  uint64_t page_clear_ps = 0, page_touch_ps = 0;
  uint64_t predicted_stall_ns = 0, worst_stall_ns = 0;  // the longest call that delayed page faults
  uint64_t worst_read_ns = 0;  // the longest read that delayed calls that change the program's mappings
  std::string problem;         // the first problem that cost rows; empty: none
};

class Rung {
 public:
  Rung() = default;
  virtual ~Rung() = default;
  Rung(const Rung&) = delete;
  Rung& operator=(const Rung&) = delete;

  // To be called when the command's process exists but has not executed the program. Returns the error; empty: none.
  virtual std::string attach(pid_t /*command*/) { return {}; }
  // Sets the processes of the command, by their pids as mlrun sees them.
  virtual void watch(const std::vector<uint32_t>& /*host_pids*/) {}
  // Adds the rows since the previous call. Returns when (CLOCK_MONOTONIC) the next call is due.
  virtual uint64_t sample(uint64_t now_ns, Rows& rows) = 0;
  // Takes the last sample; the command has ended.
  virtual void finish(uint64_t now_ns, Rows& rows) { sample(now_ns, rows); }
  [[nodiscard]] virtual RungFacts facts() const = 0;
};

}  // namespace mlrun::access
