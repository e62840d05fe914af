// SPDX-License-Identifier: Apache-2.0
// What the user's options excluded from the trace, and how much that was.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

std::string path_rules_text(const Summary& summary, const model::Run& run, const TextStyle& style) {
  if (run.options.include.empty() && run.options.exclude.empty()) return "";
  std::vector<std::string> items;
  for (const std::string& pattern : run.options.include) items.push_back("--include " + printable(pattern));
  for (const std::string& pattern : run.options.exclude) items.push_back("--exclude " + printable(pattern));
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, time_ns = 0;
  for (const model::LeftOutRow& row : summary.left_out) {
    util::add_to(calls, row.calls);
    util::add_to(bytes_read, row.bytes_read);
    util::add_to(bytes_written, row.bytes_written);
    util::add_to(time_ns, row.time_ns);
  }
  items.push_back(counted(calls, "call") + " on other files counted");
  items.push_back(util::bytes_text(bytes_read) + " read");
  items.push_back(util::bytes_text(bytes_written) + " written");
  items.push_back(util::time_text(time_ns, style.glyphs) + " in these calls");
  return wrap(style.bold("LEFT OUT"), kLead, items, style);
}

std::string sample_text(const Summary& summary, const TextStyle& style) {
  if (summary.alloc_sample_bytes == 0) return "";
  return wrap(style.bold("SAMPLED"), kLead,
              {"--alloc-sample " + util::bound_text(summary.alloc_sample_bytes),
               fmt::format("allocations picked at random represent {} of {} (estimate)",
                           util::count_text(summary.estimated_allocations), util::bytes_text(summary.estimated_bytes)),
               "all other allocations are counted; their live bytes are known at readings 0.1 to 1.6 s apart: a heap "
               "may have been larger in between",
               "figures of libraries are estimates"},
              style);
}

std::string fold_text(const Summary& summary, const TextStyle& style) {
  if (summary.fold_ns == 0) return "";
  return wrap(style.bold("FOLDED"), kLead,
              {"--fold " + util::time_text(summary.fold_ns, style.glyphs),
               style.with_trace(fmt::format("{} of {} calls have no row of their own: mlrun show TRACE folded",
                                            util::count_text(summary.folded_calls), util::count_text(summary.calls))),
               "the figures of this report include all calls"},
              style);
}

std::string summary_only_text(const model::Run& run, const TextStyle& style) {
  if (!run.options.summary_only) return "";
  return wrap(style.bold("ADDED UP"), kLead,
              {"--summary-only", style.with_trace("only sums of events were stored: mlrun show TRACE sum"),
               "quantiles within 12.5 %", "access pattern and re-read ratio need the events"},
              style);
}

std::string last_text(const Summary& summary, const model::Run& run, const TextStyle& style) {
  if (run.options.last_ns.value_or(0) == 0) return "";
  std::vector<std::string> items = {"--last " + util::time_text(*run.options.last_ns, style.glyphs)};
  if (!run.events_from_ns) {
    items.emplace_back("nothing was old enough to be freed");
    return wrap(style.bold("KEPT"), kLead, items, style);
  }
  int64_t records = 0;
  for (const model::LossRow& loss : summary.losses) util::add_to(records, summary::is_asked_for(loss) ? loss.count : 0);
  const int64_t start = run.begin_ns().value_or(summary.start_ns);
  items.push_back(fmt::format("events from {} on",
                              util::time_text(std::max<int64_t>(0, *run.events_from_ns - start), style.glyphs)));
  items.push_back(fmt::format("{} older records were freed, names and processes kept", util::count_text(records)));
  items.emplace_back("the figures of this report are of later events");
  return wrap(style.bold("KEPT"), kLead, items, style);
}

}  // namespace

std::string rules_text(const Summary& summary, const TextStyle& style) {
  const model::Run& run = summary.run;
  return path_rules_text(summary, run, style) + summary_only_text(run, style) + fold_text(summary, style) +
         sample_text(summary, style) + last_text(summary, run, style);
}

}  // namespace mlrun::report
