// SPDX-License-Identifier: Apache-2.0
// The facts of run.json that the summary and the list use. Every key may be missing; its fact is then left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::summary {

struct RunFacts {
  std::string command;                        // /command: array of texts; joined by blanks
  std::optional<int64_t> exit_status;         // /exit_status: as in a shell, 128 + signal
  std::optional<int64_t> wall_ns;             // /wall_ns; else end - start
  std::optional<int64_t> user_ns, sys_ns;     // /user_ns, /sys_ns: the command and its waited-for children
  std::optional<int64_t> start_monotonic_ns;  // /start_ns, of the command; else /clock/start/monotonic_ns
  std::optional<int64_t> start_realtime_ns;   // /clock/start/realtime_ns
  std::optional<int64_t> end_monotonic_ns;    // /end_ns
  std::optional<int64_t> events;              // /totals/events: rows of all event tables
  std::optional<int64_t> losses;              // /totals/losses: rows of `loss`
  std::optional<int64_t> kernel_records;      // /kernel_side/records
  std::optional<int64_t> collector_cpu_ns;    // /collector/cpu_ns
  bool has_kernel_side = false;               // /kernel_side/state: it recorded until the end
  bool recovered = false;                     // /recovered: mlrun was killed; the end of the command is unknown
  std::string medium;                         // /collector/medium: the arena's place
  std::optional<int64_t> graph_nodes_per_s;   // /options/graph_nodes_per_s: above it launches of CUDA graphs get rows
  std::optional<int64_t> folded_nodes;        // /gpu_work/folded_nodes: nodes without rows
  std::optional<int64_t> fold_ns;             // /options/fold_ns: shorter calls have no row of their own
  bool summary_only = false;                  // /options/summary_only: no event rows
  bool preload_off = false;                   // /options/streams is there and empty: no call was to be recorded
  std::optional<int64_t> last_ns;             // /options/last_ns: only the newest events were kept
  std::optional<int64_t> events_from_ns;      // /events_from_ns: older events were freed
  std::string cpus, mem_nodes;                // /placement/cpus, /placement/mem_node: lists; empty: all
  std::vector<std::string> include, exclude;  // /options/include, /options/exclude: patterns of files
};

[[nodiscard]] RunFacts run_facts(const nlohmann::json& run);

// "2026-11-21 14:02:11", in the reader's time zone.
[[nodiscard]] std::string date_text(int64_t realtime_ns);

}  // namespace mlrun::summary
