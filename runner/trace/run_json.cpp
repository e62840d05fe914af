// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/run_json.h"

#include <map>
#include <string>
#include <tuple>

#include "runner/trace/parquet_table.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

json clock_json(const TraceClock& clock) {
  const ClockError& error = clock.error();
  json stretches = json::array();
  for (const auto& stretch : error.stretches) stretches.push_back({stretch.start_ns, stretch.error_ns});
  return {{"anchors", error.anchors},
          {"anchors_left_out", error.left_out},
          {"error_ns", error.max_ns},
          {"error_median_ns", error.median_ns},
          {"error_by_time", std::move(stretches)},
          {"realtime_offset_start_ns", clock.realtime_offset_ns(clock.first_ns())},
          {"realtime_offset_end_ns", clock.realtime_offset_ns(clock.last_ns())}};
}

// Added up over threads.
json losses_json(const std::vector<model::LossRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> sums;
  for (const model::LossRow& row : rows) sums[{row.channel, row.reason, row.unit}] += row.count;
  json list = json::array();
  for (const auto& [key, count] : sums) {
    const auto& [channel, reason, unit] = key;
    list.push_back({{"channel", channel}, {"reason", reason}, {"count", count}, {"unit", unit}});
  }
  return list;
}

// Added up over processes.
json coverage_json(const std::vector<model::CoverageRow>& rows) {
  std::map<std::pair<std::string, std::string>, int64_t> sums;
  for (const model::CoverageRow& row : rows) ++sums[{row.subject, row.detail}];
  json list = json::array();
  for (const auto& [key, processes] : sums) {
    list.push_back({{"subject", key.first}, {"detail", key.second}, {"rows", processes}});
  }
  return list;
}

}  // namespace

json make_run_json(const SessionInfo& session, SpoolIndex& index, const model::TraceInfo& info,
                   const RowTotals& totals) {
  json run = session.all;
  for (const char* about_the_recording : {"state", "leader"}) run.erase(about_the_recording);
  run["schema_version"] = kTraceSchemaVersion;
  if (!run["clock"].is_object()) run["clock"] = json::object();
  run["clock"].update(clock_json(index.clock()));
  run["totals"] = {{"events", totals.calls + totals.allocs + totals.alloc_small},
                   {"calls", totals.calls},
                   {"allocs", totals.allocs},
                   {"alloc_small", totals.alloc_small},
                   {"processes", info.processes.size()},
                   {"images", info.images.size()},
                   {"threads", info.threads.size()},
                   {"files", info.files.size()},
                   {"marks", info.marks.size()},
                   {"phases", info.phases.size()},
                   {"losses", info.losses.size()},
                   {"coverage", info.coverage.size()},
                   {"spool_bytes", index.bytes()}};
  run["losses"] = losses_json(info.losses);
  run["coverage"] = coverage_json(info.coverage);
  return run;
}

}  // namespace mlrun::trace
