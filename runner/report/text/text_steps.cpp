// SPDX-License-Identifier: Apache-2.0
// The slowest steps, and which part of them was longer than in other steps.
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/summary/slow_steps.h"

namespace mlrun::report {
namespace {

using summary::StepsFrom;

std::string known_from(const summary::Answer& answer) {
  switch (static_cast<StepsFrom>(answer.steps_from)) {
    case StepsFrom::kMarks: return "by the program's marks";
    case StepsFrom::kBatches: return "by the batches received";
    case StepsFrom::kPattern:
      return fmt::format("by the pattern of waiting and computing, {} of them clear",
                         util::percent_text(answer.steps_sure_ppm, 1'000'000));
    case StepsFrom::kLoops: return "from loop positions in stack samples; step starts are accurate to 20 ms";
  }
  return "";
}

}  // namespace

std::string steps_text(const Summary& summary, const TextStyle& style, size_t rows) {
  constexpr size_t kListed = 10;
  const summary::Answer& answer = summary.answer;
  if (rows == 0 || answer.step_rows.empty()) return "";
  const summary::SlowSteps slow = summary::slow_steps(answer, kListed);
  const auto time = [&](int64_t ns) { return util::time_text(ns, style.glyphs); };
  TextTable table(
      {fmt::format("SLOWEST STEPS  {} of {} took {} or more, the median {}", util::count_text(int64_t(slow.count)),
                   util::count_text(answer.steps), time(slow.median_ns + slow.median_ns / 4), time(slow.median_ns)),
       "took", "waiting", "computing"});
  for (size_t i = 0; i < slow.first.size() && i < rows; ++i) {
    const summary::SlowStep& one = slow.first[i];
    const std::string at = time(one.step->ts_ns - summary.run.begin_ns().value_or(one.step->ts_ns));
    table.add_indented("  ", {fmt::format("{} at {}: {} longer by {}", util::count_text(one.step->step), at, one.part,
                                          time(one.above_ns)),
                              time(one.step->dur_ns), time(one.step->wait_ns), time(one.step->compute_ns)});
  }
  table.add_note("  " + known_from(answer) + "; a row for each: mlrun show TRACE step");
  return table.text(style);
}

}  // namespace mlrun::report
