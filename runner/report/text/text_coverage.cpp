// SPDX-License-Identifier: Apache-2.0
// In the head, losses and unseen activity; at the end, remarks: unseen activity that, as far as is known, moved neither
// bytes nor memory.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

constexpr size_t kMostComplaints = 4;

std::string process_name(const Summary& summary, int32_t proc_id) {
  for (const ProcessSummary& process : summary.processes) {
    if (process.proc_id == proc_id) return fmt::format("{} ({})", process.role, process.pid);
  }
  return {};
}

// How to avoid this loss in the next run; empty: unknown.
std::string remedy(const Summary& summary, const std::string& reason) {
  const nlohmann::json::json_pointer lossless("/options/lossless");
  const bool waits = summary.run->contains(lossless) && summary.run->at(lossless) == true;
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
    if (!is_loss(loss)) continue;
    Lost& lost = sums[{loss.channel + ": " + loss.reason, loss.unit}];
    util::add_to(lost.count, loss.count);
    lost.remedy = remedy(summary, loss.reason);
    if (!loss.kind.empty()) util::add_to(lost.kinds[loss.kind], loss.count);
  }
  std::vector<std::string> lines;
  lines.reserve(sums.size());
  for (const auto& [what, lost] : sums) {
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : lost.kinds) kinds.push_back(fmt::format("{} {}", kind, count_text(count)));
    const std::string of_kinds = kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, "; "));
    lines.push_back(
        fmt::format("{} {} lost, {}{}{}", count_text(lost.count), what.second, what.first, of_kinds, lost.remedy));
  }
  return lines;
}

// Equal statements about several processes.
struct Unseen {
  std::vector<int32_t> processes;
  int64_t seen = 0, kernel = 0;  // of processes with both numbers
};

// Prints one level. `begin`: the prefix of each line.
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
      const auto amount = what.first.starts_with("bytes ") ? bytes_text : count_text;
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
    out +=
        style.dim(fmt::format("  {} {} more{}", style.glyphs.pick("…", "..."), lines.size() - kMostComplaints, rest)) +
        "\n";
  }
  return out;
}

bool has_kernel_side(const Summary& summary) {
  const nlohmann::json::json_pointer at("/kernel_side/state");
  return summary.run->contains(at) && summary.run->at(at) == "recorded";
}

}  // namespace

std::string completeness_text(const Summary& summary, const TextStyle& style) {
  const auto lost = losses(summary), unseen = coverage(summary, false, "not seen: ");
  const bool other_sides =
      !summary.gpus.empty() || !summary.marks.empty() || !summary.gpu_work.empty() || has_kernel_side(summary);
  const int64_t events = summary.calls + summary.allocations + summary.counted_allocations;
  if (lost.empty() && unseen.empty() && events == 0 && !other_sides) {
    const bool followed = !summary.processes.empty();
    return style.warning("NOTHING RECORDED") +
           (followed ? "  the command's processes were followed, and made no call that is recorded\n"
                     : "  no process of the command could be followed; see mlrun doctor\n");
  }
  if (lost.empty() && unseen.empty()) {
    const bool remarks =
        std::any_of(summary.coverage.begin(), summary.coverage.end(), [](const auto& row) { return row.is_remark(); });
    return style.good("complete") + ": nothing lost, nothing known to be unseen" +
           (remarks ? " that moved bytes or memory (remarks at the end)\n" : "\n");
  }
  std::string out =
      lost.empty() ? style.warning("NOT ALL SEEN") + "  nothing lost, but\n" : style.bad("INCOMPLETE") + "\n";
  return out + list(lost, ": mlrun show TRACE loss", style) + list(unseen, ": mlrun show TRACE coverage", style);
}

std::string remarks_text(const Summary& summary, const TextStyle& style) {
  const auto remarks = coverage(summary, true, "");
  if (remarks.empty()) return "";
  return style.bold("REMARKS") + "\n" + list(remarks, ": mlrun show TRACE coverage", style);
}

}  // namespace mlrun::summary
