// SPDX-License-Identifier: Apache-2.0
// The data from which the findings are made: the driver's time by cause, and facts about the threads that it waited for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/blame/analyse.h"
#include "runner/findings/causes.h"
#include "runner/findings/machine.h"

namespace mlrun::findings {

using blame::Divided;
using blame::Ns;

struct Worker {
  int32_t thread_id = 0;
  double busy = 0;  // share of the driver's waiting in which the worker was not waiting for a task
};

struct Context {
  Context(const blame::Analysis& of, const Machine& on) : analysis(of), machine(on) {}

  const blame::Analysis& analysis;
  Machine machine;
  std::vector<Cause> causes;  // by number of the piece in the division
  std::array<double, kCauses> ns{};
  std::array<std::map<int32_t, double>, kCauses> lines;        // time by line
  std::array<std::map<int32_t, double>, kCauses> threads;      // time by thread at the end of the chain
  std::array<std::map<blame::Label, double>, kCauses> labels;  // time by what the thread at the end of the chain did
  Cause files = Cause::kDataDevice;                            // the cause of time in data files
  std::vector<Cause> files_also;
  blame::FileUse use;  // file use of the threads that the driver waited for, and of the driver if it used files itself
  double times_over = 0;          // how often the file with most bytes read was read over, if several times
  std::string most_read_path;     // of that file; empty: unknown
  std::vector<Worker> workers;    // the threads that feed the driver, busiest first
  int32_t slow_worker = 0;        // thread_id of the worker that holds up the others; 0: none
  Cause slow_for = Cause::kNone;  // the cause with most of the slow worker's time
  double median_busy = 0;         // median over the workers other than the busiest
  double locked = 0;       // share of the driver's waiting in which the workers waited for each other at a lock; median
  bool held_lock = false;  // threads that feed the driver wait for each other at a lock
  double compute_ns = 0;   // the driver's own computing, without waiting for servers or for a processor

  [[nodiscard]] const blame::Timeline& timeline() const { return analysis.timeline; }
  [[nodiscard]] double ns_of(Cause cause) const { return ns[static_cast<size_t>(cause)]; }
  // The Python line with most of the cause's time; empty: unknown.
  [[nodiscard]] std::string top_line(Cause cause) const;
  [[nodiscard]] int32_t top_thread(Cause cause) const;  // 0: none
  // "ROLE (PID)" for a main thread, else "thread NAME (TID) of ROLE (PID)".
  [[nodiscard]] std::string name_of(int32_t thread_id) const;
};

// Requires: the analysis has a driver. Reads file names from the trace.
Context make_context(const blame::Analysis& analysis, const std::string& folder, const Machine& machine);

}  // namespace mlrun::findings
