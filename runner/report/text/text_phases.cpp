// SPDX-License-Identifier: Apache-2.0
// The phases of the training, in order of time: how long the driver waited and computed in each.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

// A log has milliseconds. If the write of a log line was not recorded, calls in the line's millisecond may belong to the adjacent phase.
std::string phases_error_text(const Summary& summary, const TextStyle& style) {
  constexpr int64_t kCoarseNs = 500'000;
  int64_t phases = 0, error_ns = 0;
  for (const model::PhaseRow& phase : summary.phases) {
    phases += phase.error_ns >= kCoarseNs ? 1 : 0;
    error_ns = std::max(error_ns, phase.error_ns);
  }
  if (phases == 0) return "";
  const bool all = phases == static_cast<int64_t>(summary.phases.size());
  return paragraph(
      fmt::format("bounds{} are exact to {} only: the writes of their log lines were late, or not recorded",
                  all ? "" : " of " + counted(phases, "phase"), util::time_text(error_ns, style.glyphs)),
      2, 2, style);
}

// The longest phases, in order of time.
std::vector<size_t> longest(const std::vector<model::PhaseRow>& phases, size_t rows) {
  std::vector<size_t> order(phases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() <= rows) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return phases[a].dur_ns > phases[b].dur_ns; });
  order.resize(rows);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

std::string phases_text(const Summary& summary, const TextStyle& style, size_t rows) {
  if (summary.phases.empty() || rows == 0) return "";
  const model::Run& run = summary.run;
  const int64_t start = run.begin_ns().value_or(summary.start_ns);
  const bool is_wide = style.width >= 80;
  std::vector<std::string> titles{std::string("PHASES") + of_text(rows, summary.phases.size()),
                                  "at",
                                  "for",
                                  "waiting",
                                  "computing",
                                  "read",
                                  "I/O time"};
  if (!is_wide) titles.resize(5);
  TextTable table(titles);
  for (const size_t i : longest(summary.phases, rows)) {
    const model::PhaseRow& phase = summary.phases[i];
    const bool is_known = phase.end_ns() > run.events_from_ns.value_or(phase.end_ns() - 1);
    const auto time = [&](int64_t ns) { return util::time_text(ns, style.glyphs); };
    std::vector<std::string> cells{printable(phase.name),
                                   time(std::max<int64_t>(0, phase.ts_ns - start)),
                                   time(phase.dur_ns),
                                   is_known ? time(phase.wait_ns) : "-",
                                   is_known ? time(phase.compute_ns) : "-",
                                   is_known ? util::bytes_text(phase.bytes_read) : "-",
                                   is_known ? time(phase.io_ns) : "-"};
    if (!is_wide) cells.resize(5);
    table.add_indented("  ", std::move(cells));
  }
  add_more(rows, summary.phases.size(), "phase", table);
  return table.text(style) + (rows < kRowsMost ? "" : phases_error_text(summary, style));
}

}  // namespace mlrun::report
