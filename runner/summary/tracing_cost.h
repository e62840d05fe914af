// SPDX-License-Identifier: Apache-2.0
// Overhead estimate of tracing: the calls of each cost class times the cost per call on the machine of the run (`cost`
// of run.json, measured by `mlrun bench` or at the end of an earlier run). Without it there is no estimate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/summary/summary.h"

namespace mlrun::summary {

struct CostLine {
  std::string cost_class;  // as in run.json: runner/bench/README.md
  int64_t calls = 0;
  double per_call_ns = 0;
  // The line counts rows of `call`; else allocations, records of marks, or stdio calls without a row.
  bool is_call = true;
  [[nodiscard]] double total_ns() const { return double(calls) * per_call_ns; }
};

struct CostEstimate {
  std::string source;  // "bench" or "quick"
  int64_t measured_realtime_ns = 0;
  std::vector<CostLine> lines;        // classes with calls
  int64_t calls_without_cost = 0;     // calls of classes whose cost was not measured
  std::vector<std::string> left_out;  // names of recorded work that no line includes: SUMMARY_JSON.md
  double total_ns = 0;
  std::optional<double> share_of_cpu;  // share of the processor time of the command and the children that it waited for
};

// nullopt: the cost of calls on that machine is unknown.
[[nodiscard]] std::optional<CostEstimate> cost_estimate(const Summary& summary);

}  // namespace mlrun::summary
