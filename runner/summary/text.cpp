// SPDX-License-Identifier: Apache-2.0
// Head, completeness and cost; and the order of all blocks.
#include "runner/summary/text.h"

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/summary/cost.h"
#include "runner/summary/run_facts.h"
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

// What keeps such records the next time; empty: not known.
std::string remedy(const Summary& summary, const std::string& reason) {
  const nlohmann::json::json_pointer lossless("/options/lossless");
  const bool waits = summary.run->contains(lossless) && summary.run->at(lossless) == true;
  if (waits || (reason != "buffer full" && reason != "gave up waiting for room")) return {};
  return "; --lossless waits for room, --buffer SIZE makes more of it";
}

// What was lost, added up over threads.
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
  int64_t seen = 0, kernel = 0;  // of those that have both
};

std::vector<std::string> coverage(const Summary& summary) {
  std::map<std::pair<std::string, std::string>, Unseen> sums;  // (subject, detail)
  for (const auto& row : summary.coverage) {
    Unseen& sum = sums[{row.subject, row.detail}];
    sum.processes.push_back(row.proc_id);
    if (row.seen < 0 || row.kernel < 0) continue;
    util::add_to(sum.seen, row.seen);
    util::add_to(sum.kernel, row.kernel);
  }
  std::vector<std::string> lines;
  for (const auto& [what, sum] : sums) {
    std::string line = "not seen: " + what.first;
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

// None is cut: they are the reasons not to trust a figure.
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

std::string exit_text(int64_t status, const TextStyle& style) {
  if (status == 0) return style.good("exit 0");
  if (status > 128 && status < 128 + 65) return style.bad(fmt::format("exit {} (signal {})", status, status - 128));
  return style.bad(fmt::format("exit {}", status));
}

bool has_kernel_side(const Summary& summary) {
  const nlohmann::json::json_pointer at("/kernel_side/state");
  return summary.run->contains(at) && summary.run->at(at) == "recorded";
}

}  // namespace

std::string head_text(const Summary& summary, const std::string& trace, const TextStyle& style) {
  const RunFacts run = run_facts(*summary.run);
  std::string out = style.bold(
      cut_end(printable(run.command.empty() ? "(command not known)" : run.command), style.width, style.glyphs));
  std::vector<std::string> items;
  const auto add = [&](const char* name, const std::optional<int64_t>& ns) {
    if (ns) items.push_back(name + time_text(*ns, style.glyphs));
  };
  if (run.recovered) items.push_back(style.warning("recovered") + " (mlrun did not finish)");
  if (run.exit_status) items.push_back(exit_text(*run.exit_status, style));
  add("wall ", run.wall_ns);
  add("user ", run.user_ns);
  add("sys ", run.sys_ns);
  if (run.start_realtime_ns) items.push_back(date_text(*run.start_realtime_ns));
  if (!trace.empty()) items.push_back("trace " + printable(trace));
  return out + "\n" + wrap("", 0, items, style);
}

std::string completeness_text(const Summary& summary, const TextStyle& style) {
  const auto lost = losses(summary), unseen = coverage(summary);
  const bool other_sides =
      !summary.gpus.empty() || !summary.marks.empty() || !summary.gpu_work.empty() || has_kernel_side(summary);
  const int64_t events = summary.calls + summary.allocations + summary.counted_allocations;
  if (lost.empty() && unseen.empty() && events == 0 && !other_sides) {
    const bool followed = !summary.processes.empty();
    return style.warning("NOTHING RECORDED") +
           (followed ? "  the command's processes were followed, and made no call that is recorded\n"
                     : "  no process of the command could be followed; see mlrun doctor\n");
  }
  if (lost.empty() && unseen.empty()) return style.good("complete") + ": nothing lost, nothing known to be unseen\n";
  std::string out =
      lost.empty() ? style.warning("NOT ALL SEEN") + "  nothing lost, but\n" : style.bad("INCOMPLETE") + "\n";
  return out + list(lost, ": mlrun show TRACE loss", style) + list(unseen, ": mlrun show TRACE coverage", style);
}

namespace {

std::string estimate_text(const Summary& summary, const TextStyle& style) {
  const std::optional<CostEstimate> cost = cost_estimate(summary);
  if (!cost) {
    const bool cannot_store = summary.run->contains("can_store_cost") && summary.run->at("can_store_cost") == false;
    return !cannot_store ? "cost not known (mlrun bench measures it)"
                         : "cost not known (neither XDG_CACHE_HOME nor HOME names a folder of this user's to keep a "
                           "measurement in)";
  }
  const auto total_ns = int64_t(cost->total_ns);
  std::string text = "estimated cost " + time_text(total_ns, style.glyphs) + " of CPU";
  const RunFacts run = run_facts(*summary.run);
  const int64_t cpu_ns = run.user_ns.value_or(0) + run.sys_ns.value_or(0);
  if (cpu_ns > 0) text += " = " + percent_text(total_ns, cpu_ns) + " of the command's";
  for (size_t i = 0; i < cost->left_out.size(); i++) {
    const bool is_last = i + 1 == cost->left_out.size();
    text += (i == 0 ? ", without " : is_last ? " and " : ", ") + cost->left_out[i];
  }
  return text;
}

}  // namespace

std::string cost_text(const Summary& summary, const TextStyle& style) {
  const RunFacts run = run_facts(*summary.run);
  std::vector<std::string> items;
  const int64_t events = run.events.value_or(summary.calls + summary.allocations);
  items.push_back(run.summary_only ? count_text(summary.calls + summary.allocations) + " events added up"
                                   : count_text(events) + " events recorded");
  if (run.kernel_records.value_or(0) > 0) items.push_back(count_text(*run.kernel_records) + " by the kernel side");
  items.push_back(estimate_text(summary, style));
  if (run.collector_cpu_ns) items.push_back("collector " + time_text(*run.collector_cpu_ns, style.glyphs) + " of CPU");
  if (!run.medium.empty()) items.push_back("buffer in " + printable(run.medium));
  return wrap(style.bold("TRACING"), 14, items, style);
}

std::string text(const Summary& summary, const std::string& trace, const TextStyle& style) {
  std::string out = head_text(summary, trace, style) + completeness_text(summary, style) + rules_text(summary, style);
  const auto block = [&](std::string content) {
    if (!content.empty()) out += "\n" + std::move(content);
  };
  block(processes_text(summary, style));
  block(phases_text(summary, style));
  block(marks_text(summary, style));
  block(collectives_text(summary, style));
  block(gpus_text(summary, style));
  block(gpu_work_text(summary, style));
  block(gpu_memory_text(summary, style));
  block(torch_memory_text(summary, style));
  block(gpu_idle_text(summary, style));
  block(gpu_files_text(summary, style));
  block(python_text(summary, style));
  block(files_text(summary, style));
  block(calls_text(summary, style));
  block(sites_text(summary, style));
  block(splits_text(summary, style));
  block(devices_text(summary, style));
  block(syscalls_text(summary, style));
  block(access_text(summary, style) + timeline_text(summary, style) + waits_text(summary, style) +
        heap_text(summary, style) + kernel_text(summary, style) + cost_text(summary, style) +
        streams_text(summary, style));
  constexpr const char* kRules = "Times of calls are added up over threads. KiB, MiB, ... are powers of 1024.";
  out += style.dim(paragraph(kRules, 0, std::numeric_limits<size_t>::max(), style));
  return out;
}

}  // namespace mlrun::summary
