// SPDX-License-Identifier: Apache-2.0
// Completeness: one line in the head; at the end lists of losses, of unseen activity, and of remarks. A remark is about unseen activity that, as far
// as is known, moved neither bytes nor memory.
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/report/text/text.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

constexpr size_t kMostComplaints = 4;

std::string process_name(const Summary& summary, int32_t proc_id) {
  const summary::ProcessSummary* process = find_process(summary, proc_id);
  return process == nullptr ? "" : fmt::format("{} ({})", process->role, process->pid);
}

// "1 record", "3,000 records": units are plural.
std::string amount_text(int64_t count, const std::string& unit) {
  if (count != 1 || !unit.ends_with('s')) return util::count_text(count) + " " + unit;
  return "1 " + unit.substr(0, unit.size() - (unit.ends_with("ches") ? 2 : 1));
}

// How to avoid this loss in the next run; empty: unknown.
std::string remedy(const Summary& summary, const std::string& reason) {
  const bool waits = summary.run.options.lossless;
  if (waits || (reason != "buffer full" && reason != "gave up waiting for room")) return {};
  return "; --lossless waits for room, --buffer SIZE makes more of it";
}

// Losses, added up over threads.
std::vector<std::string> losses(const Summary& summary) {
  struct Lost {
    int64_t count = 0;
    std::string remedy;
    std::map<std::string, int64_t> kinds;
  };
  std::map<std::pair<std::string, std::string>, Lost> sums;  // (reason, unit)
  for (const auto& loss : summary.losses) {
    if (!summary::is_loss(loss)) continue;
    Lost& lost = sums[{loss.channel + ": " + loss.reason, loss.unit}];
    util::add_to(lost.count, loss.count);
    lost.remedy = remedy(summary, loss.reason);
    if (!loss.kind.empty()) util::add_to(lost.kinds[loss.kind], loss.count);
  }
  std::vector<std::string> lines;
  lines.reserve(sums.size());
  for (const auto& [what, lost] : sums) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : lost.kinds) kinds.push_back(fmt::format("{} {}", kind, util::count_text(count)));
    const std::string of_kinds = kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, "; "));
    lines.push_back(
        fmt::format("{} lost, {}{}{}", amount_text(lost.count, what.second), what.first, of_kinds, lost.remedy));
  }
  return lines;
}

// Equal coverage rows of several processes.
struct Unseen {
  std::vector<int32_t> processes;
  int64_t seen = 0, kernel = 0;  // sums over the processes that have both numbers
};

// Returns the lines of one level. `begin`: prefix of each line.
std::vector<std::string> coverage(const Summary& summary, bool remarks, const char* begin) {
  std::map<std::pair<std::string, std::string>, Unseen> sums;  // (subject, detail)
  for (const auto& row : summary.coverage) {
    if (row.is_remark() != remarks) continue;
    Unseen& sum = sums[{row.subject, row.detail}];
    sum.processes.push_back(row.proc_id);
    if (row.seen < 0 || row.kernel < 0) continue;
    util::add_to(sum.seen, row.seen);
    util::add_to(sum.kernel, row.kernel);
  }
  std::vector<std::string> lines;
  for (const auto& [what, sum] : sums) {
    std::string line = begin + what.first;
    if (sum.kernel > 0) {
      const auto amount = what.first.starts_with("bytes ") ? util::bytes_text : util::count_text;
      line += fmt::format(" ({} of {})", amount(sum.kernel - sum.seen), amount(sum.kernel));
    }
    if (!what.second.empty()) line += ", " + what.second;
    if (sum.processes.size() > 1) {
      line += fmt::format(", in {} processes", sum.processes.size());
    } else if (const std::string name = process_name(summary, sum.processes.front()); !name.empty()) {
      line += ", in " + name;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Lines are never cut: they are the reasons not to trust a figure.
std::string list(const std::vector<std::string>& lines, const char* rest, const TextStyle& style) {
  std::string out;
  for (size_t i = 0; i < lines.size() && i < kMostComplaints; ++i) {
    out += paragraph(printable(lines[i]), 2, std::numeric_limits<size_t>::max(), style);
  }
  if (lines.size() > kMostComplaints) {
    const std::string more =
        fmt::format("{} {} more{}", style.glyphs.pick("…", "..."), lines.size() - kMostComplaints, rest);
    out += style.dim(paragraph(style.with_trace(more), 2, std::numeric_limits<size_t>::max(), style));
  }
  return out;
}

// Remarks: unseen activity that moved neither bytes nor memory, and pauses that the user requested.
std::vector<std::string> remark_lines(const Summary& summary) {
  std::vector<std::string> lines = coverage(summary, true, "");
  int64_t pauses = 0;
  for (const auto& loss : summary.losses) {
    if (summary::is_pause(loss)) util::add_to(pauses, loss.count);
  }
  if (pauses > 0) lines.push_back("recording was paused by mlrun pause: " + amount_text(pauses, "stretches"));
  return lines;
}

}  // namespace

std::string completeness_text(const Summary& summary, const TextStyle& style) {
  const auto lost = losses(summary), unseen = coverage(summary, false, "not seen: ");
  const auto remarks = static_cast<int64_t>(remark_lines(summary).size());
  const model::Run& facts = summary.run;
  const bool other_sides =
      !summary.gpus.empty() || !summary.marks.empty() || !summary.gpu_work.empty() || facts.kernel_side.has_recorded();
  const int64_t events = summary.calls + summary.allocations + summary.counted_allocations;
  if (lost.empty() && unseen.empty() && events == 0 && !other_sides) {
    if (facts.is_preload_off()) return "no call or allocation was to be recorded (--preload=off)\n";
    const bool followed = !summary.processes.empty();
    return style.warning("NOTHING RECORDED") +
           (followed ? "  the command's processes were traced, but made no call that is recorded\n"
                     : "  no process of the command could be traced; see mlrun doctor\n");
  }
  std::vector<std::string> items;
  if (!lost.empty()) items.push_back(counted(static_cast<int64_t>(lost.size()), "kind") + " of loss");
  if (!unseen.empty()) items.push_back(counted(static_cast<int64_t>(unseen.size()), "thing") + " not seen");
  if (remarks > 0) items.push_back(counted(remarks, "remark"));
  const std::string listed = fmt::format("{}", fmt::join(items, ", "));
  const auto line = [&](const std::string& text) { return wrap("", 0, {text}, style); };
  if (!lost.empty()) return line(style.bad("INCOMPLETE") + ": " + listed + ", listed at the end");
  if (!unseen.empty()) return line(style.warning("NOT ALL SEEN") + ": nothing lost, " + listed + ", listed at the end");
  if (remarks > 0) return line(style.good("complete") + ": nothing lost; " + listed + " at the end");
  return line(style.good("complete") + ": nothing lost, nothing known to be unseen");
}

std::string unseen_text(const Summary& summary, const TextStyle& style) {
  const auto lost = losses(summary), unseen = coverage(summary, false, "not seen: ");
  if (lost.empty() && unseen.empty()) return "";
  return style.bold("LOST OR NOT SEEN") + "\n" + list(lost, ": mlrun show TRACE loss", style) +
         list(unseen, ": mlrun show TRACE coverage", style);
}

std::string remarks_text(const Summary& summary, const TextStyle& style) {
  const auto remarks = remark_lines(summary);
  if (remarks.empty()) return "";
  return style.bold("REMARKS") + "\n" + list(remarks, ": mlrun show TRACE coverage", style);
}

}  // namespace mlrun::report
