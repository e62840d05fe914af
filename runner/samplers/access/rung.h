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
#include "runner/model/run.h"

namespace mlrun::access {

using Rows = std::vector<mlrun_access_sample>;

// The largest share of the program's time that a rung may cost it.
inline constexpr double kProgramShare = 0.01;

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
  // What it did to the program, and how much of the time it could see accesses. The caller adds the names.
  [[nodiscard]] virtual model::MemoryAccess::Rung facts() const = 0;
};

}  // namespace mlrun::access
