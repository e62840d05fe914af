// SPDX-License-Identifier: Apache-2.0
// Ranges and marks of the program.
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {
constexpr size_t kNamesShown = 6;
}

std::string marks_text(const Summary& summary, const TextStyle& style) {
  if (summary.marks.empty()) return "";
  TextTable table({"MARKS", "domain", "count", "time", "longest"});
  for (size_t i = 0; i < summary.marks.size() && i < kNamesShown; ++i) {
    const summary::MarkSummary& mark = summary.marks[i];
    table.add({printable(mark.name), printable(mark.domain), util::count_text(mark.count),
               util::time_text(mark.time_ns, style.glyphs), util::time_text(mark.max_ns, style.glyphs)});
  }
  if (summary.marks.size() > kNamesShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_mark", style.glyphs.pick("…", "..."),
                               summary.marks.size() - kNamesShown));
  }
  return table.text(style);
}

}  // namespace mlrun::report
