// SPDX-License-Identifier: Apache-2.0
// What the findings are made of: the pieces of the driver's time by cause, and facts about the threads at the end of the
// chains.
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
  double busy = 0;  // share of the driver's waiting in which it did not wait for a task
};

struct Context {
  Context(const blame::Analysis& of, const Machine& on) : analysis(of), machine(on) {}

  const blame::Analysis& analysis;
  Machine machine;
  std::vector<Cause> causes;  // of each piece
  std::array<double, kCauses> ns{};
  std::array<std::map<int32_t, double>, kCauses> lines;        // time by line
  std::array<std::map<int32_t, double>, kCauses> threads;      // time by thread at the end of the chain
  std::array<std::map<blame::Label, double>, kCauses> labels;  // time by what that thread did
  Cause files = Cause::kDataDevice;                            // what the time in files is for
  std::vector<Cause> files_also;
  blame::FileUse use;     // of the threads that the driver waited for
  int64_t most_read = 0;  // file that they read most often over; 0: none is read over
  double times_over = 0;
  std::string most_read_path;
  std::vector<Worker> workers;    // that feed the driver, busiest first
  int32_t slow_worker = 0;        // thread; 0: none
  Cause slow_for = Cause::kNone;  // what most of its time goes to
  double median_busy = 0;         // of the others
  double locked = 0;              // median share of the driver's waiting in which they waited at a lock for each other
  bool held_lock = false;         // threads that feed the driver wait for each other at a lock
  double compute_ns = 0;          // the driver's own, on a processor

  [[nodiscard]] const blame::Timeline& timeline() const { return analysis.timeline; }
  [[nodiscard]] double ns_of(Cause cause) const { return ns[static_cast<size_t>(cause)]; }
  // The line with most of the time; empty: none is known.
  [[nodiscard]] std::string top_line(Cause cause) const;
  [[nodiscard]] int32_t top_thread(Cause cause) const;  // 0: none
  // "role (pid)" or "role thread NAME (tid)".
  [[nodiscard]] std::string name_of(int32_t thread_id) const;
  // Processes with workers that feed the driver.
  [[nodiscard]] size_t worker_count() const { return workers.size(); }
};

// Requires: the analysis has a driver. Reads names of files from the trace.
Context make_context(const blame::Analysis& analysis, const std::string& folder, const Machine& machine);

}  // namespace mlrun::findings
