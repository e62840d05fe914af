// SPDX-License-Identifier: Apache-2.0
// NCCL collectives, and the spread of their ranks' begin times.
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

constexpr size_t kCollectivesShown = 6;

// The rank that was last most often.
std::string last_text(const Summary& summary, const summary::CollectiveSummary& of) {
  const summary::ProcessSummary* process = find_process(summary, of.last_proc_id);
  return fmt::format("{} {}", process == nullptr ? 0 : process->pid, util::percent_text(of.last_times, of.compared));
}

}  // namespace

std::string collectives_text(const Summary& summary, const TextStyle& style) {
  if (summary.collectives.empty()) return "";
  TextTable table({"COLLECTIVES", "count", "bytes", "in the call", "start skew p50", "p99", "last to begin"});
  for (size_t i = 0; i < summary.collectives.size() && i < kCollectivesShown; ++i) {
    const summary::CollectiveSummary& of = summary.collectives[i];
    std::string name = printable(of.operation);
    if (of.ranks > 0) name += fmt::format(" of {} ranks", of.ranks);
    if (!of.communicator.empty()) name += " " + of.communicator;
    const bool has_skew = of.compared > 0;
    table.add({std::move(name), util::count_text(of.count), util::bytes_text(of.bytes),
               util::time_text(of.time_ns, style.glyphs), has_skew ? util::time_text(of.skew_p50_ns, style.glyphs) : "",
               has_skew ? util::time_text(of.skew_p99_ns, style.glyphs) : "", has_skew ? last_text(summary, of) : ""});
  }
  if (summary.collectives.size() > kCollectivesShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_collective", style.glyphs.pick("…", "..."),
                               summary.collectives.size() - kCollectivesShown));
  }
  return table.text(style);
}

}  // namespace mlrun::report
