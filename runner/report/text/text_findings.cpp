// SPDX-License-Identifier: Apache-2.0
// What to change: the findings, with the number of each, its remedy, and the command that shows its rows.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"

namespace mlrun::report {
namespace {

using summary::Finding;

constexpr int64_t kShortRunNs = 1'000'000'000;  // a shorter run is mostly start-up
constexpr size_t kFindingIndent = 3;

std::string finding_lines(const std::string& text, size_t indent, const TextStyle& style) {
  return paragraph(printable(style.with_trace(text)), indent, std::numeric_limits<size_t>::max(), style);
}

std::string share_line(const Finding& finding, int64_t wall_ns, const TextStyle& style) {
  std::string range = finding.measured_on;
  if (finding.low_ppm >= 0 && finding.high_ppm >= 0) {
    range = fmt::format("{:.0f} to {:.0f} %; {}", double(finding.low_ppm) / 1e4, double(finding.high_ppm) / 1e4,
                        finding.measured_on);
  }
  std::string also = finding.also;
  for (size_t at = 0; (at = also.find(',', at)) != std::string::npos; at += 4) also.replace(at, 1, " or ");
  if (!also.empty()) also = fmt::format(" (or {}: the data cannot tell)", also);
  return fmt::format("{}{}: {}, {} of the run ({})", finding.cause, also,
                     util::time_text(finding.explains_ns, style.glyphs),
                     util::percent_text(finding.explains_ns, wall_ns), range);
}

std::string finding_text(const Finding& finding, size_t number, int64_t wall_ns, const TextStyle& style) {
  std::string claim = finding_lines(finding.claim, kFindingIndent, style);
  const std::string mark = std::to_string(number);
  claim.replace(0, std::min(mark.size(), kFindingIndent - 1), mark);
  std::string remedy = "change: " + finding.remedy;
  if (finding.at_most_saved_ns > 0) {
    remedy += fmt::format("; at most {} saved", util::time_text(finding.at_most_saved_ns, style.glyphs));
  }
  std::string out = claim + finding_lines(share_line(finding, wall_ns, style), kFindingIndent, style);
  if (!finding.remedy.empty()) out += finding_lines(remedy, kFindingIndent, style);
  if (!finding.against.empty()) out += finding_lines("but: " + finding.against, kFindingIndent, style);
  if (!finding.command.empty()) out += style.dim(finding_lines("rows: " + finding.command, kFindingIndent, style));
  return out;
}

// Whether the finding is shown: computing is one only if something is known about the data or the lines of the program.
bool is_shown(const Finding& finding, const summary::Answer& answer) {
  return finding.cause != "compute_bound" || answer.batches_from_ns != 0 || answer.samples > 0;
}

}  // namespace

std::string findings_text(const Summary& summary, const TextStyle& style, size_t rows) {
  const summary::Answer& answer = summary.answer;
  if (answer.wall_ns < kShortRunNs) return "";
  std::vector<const Finding*> shown;
  for (const Finding& finding : answer.findings) {
    if (is_shown(finding, answer)) shown.push_back(&finding);
  }
  if (shown.empty()) return "";
  std::string out = style.bold("FINDINGS") + "\n";
  for (size_t i = 0; i < shown.size() && i < rows; ++i) out += finding_text(*shown[i], i + 1, answer.wall_ns, style);
  if (shown.size() > rows) {
    out += style.dim(finding_lines(
        fmt::format("{} {} more: mlrun show TRACE finding", style.glyphs.pick("…", "..."), shown.size() - rows),
        kFindingIndent, style));
  }
  return out;
}

}  // namespace mlrun::report
