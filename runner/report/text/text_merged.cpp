// SPDX-License-Identifier: Apache-2.0
#include "runner/report/text/text_merged.h"

#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text_table.h"
#include "runner/util/units.h"

namespace mlrun::report {

namespace {

using nlohmann::ordered_json;

int64_t integer_in(const ordered_json& row, const char* name, int64_t otherwise = -1) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

std::string word_in(const ordered_json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

const ordered_json& list_in(const ordered_json& merged, const char* name) {
  static const ordered_json kNone = ordered_json::array();
  const auto found = merged.find(name);
  return found != merged.end() && found->is_array() ? *found : kNone;
}

std::string time_or_dash(const ordered_json& row, const char* name, const TextStyle& style) {
  const int64_t ns = integer_in(row, name);
  return ns < 0 ? "-" : util::time_text(ns, style.glyphs);
}

std::string signed_text(int64_t ns, const TextStyle& style) {
  return (ns < 0 ? "-" : "+") + util::time_text(std::abs(ns), style.glyphs);
}

// "unknown" if the error is missing or negative.
std::string error_text(const ordered_json& row, const TextStyle& style) {
  const int64_t error = integer_in(row, "error_ns");
  if (error < 0) return "unknown";
  return style.glyphs.pick("±", "+-") + util::time_text(error, style.glyphs);
}

std::string known_by(const ordered_json& row) {
  const std::string by = word_in(row, "aligned_by"), through = word_in(row, "through");
  if (by == "reference") return "the clock of this trace";
  if (by == "same clock") return "one clock with " + through;
  if (by == "given") return "--offset";
  if (by == "utc") return "NTP's bounds";
  if (by == "utc unbounded") return "UTC of unsynchronised clocks";
  std::string text;
  for (const auto& [name, noun] :
       {std::pair{"messages", "message"}, {"collectives", "collective"}, {"marks", "mark"}}) {
    if (const int64_t count = integer_in(row, name); count > 0)
      text += (text.empty() ? "" : ", ") + counted(count, noun);
  }
  return text + " with " + through;
}

std::string node_name(const ordered_json& merged, int64_t node_id) {
  for (const ordered_json& node : list_in(merged, "nodes")) {
    if (integer_in(node, "node_id") == node_id) return word_in(node, "name");
  }
  return "?";
}

std::string nodes_text(const ordered_json& merged, const TextStyle& style) {
  TextTable table({"NODES", "clock", "drift", "error", "known by"});
  for (const ordered_json& node : list_in(merged, "nodes")) {
    const bool is_first = word_in(node, "aligned_by") == "reference";
    const int64_t ahead = integer_in(node, "utc_ahead_ns", INT64_MIN), drift = integer_in(node, "drift_ppb", 0);
    table.add({word_in(node, "name"), is_first || ahead == INT64_MIN ? "-" : signed_text(ahead, style),
               is_first || drift == 0 ? "-" : fmt::format("{:+.2f} ppm", static_cast<double>(drift) / 1000),
               is_first ? "-" : error_text(node, style), known_by(node)});
  }
  return table.text(style);
}

std::string ranks_text(const ordered_json& merged, const TextStyle& style) {
  bool has_attempts = false;
  for (const ordered_json& rank : list_in(merged, "ranks"))
    has_attempts = has_attempts || integer_in(rank, "attempt") > 1;
  TextTable table({"RANKS", "wall", "start-up", "computing", "waiting", "without a batch", "last", "finding"});
  for (const ordered_json& rank : list_in(merged, "ranks")) {
    const int64_t number_of = integer_in(rank, "rank");
    const std::string node = node_name(merged, integer_in(rank, "node_id"));
    const std::string attempt = has_attempts ? fmt::format(" #{}", integer_in(rank, "attempt")) : "";
    std::string name = number_of < 0 ? node : fmt::format("rank {}{} on {}", number_of, attempt, node);
    table.add({std::move(name), time_or_dash(rank, "wall_ns", style), time_or_dash(rank, "startup_ns", style),
               time_or_dash(rank, "compute_ns", style), time_or_dash(rank, "waited_ns", style),
               time_or_dash(rank, "without_batch_ns", style),
               integer_in(rank, "last_times", 0) == 0 ? "-" : util::count_text(integer_in(rank, "last_times")),
               word_in(rank, "cause").empty() ? "-" : word_in(rank, "cause")});
  }
  return table.text(style);
}

std::string slowest_text(const ordered_json& merged, const TextStyle& style) {
  const auto found = merged.find("slowest_rank");
  if (found == merged.end() || !found->is_object()) return "";
  const std::string text = fmt::format("SLOWEST rank {} on {} (by {}): {}", integer_in(*found, "rank"),
                                       node_name(merged, integer_in(*found, "node_id")), word_in(*found, "known_by"),
                                       word_in(*found, "why"));
  return paragraph(text, 0, 4, style);
}

std::string skews_text(const ordered_json& merged, const TextStyle& style) {
  const ordered_json& skews = list_in(merged, "skews");
  if (skews.empty()) return "";
  TextTable table({"BEGUN TOGETHER", "compared", "apart, median", "99 %", "most", "error", "last mostly"});
  for (const ordered_json& skew : skews) {
    const std::string operation = word_in(skew, "operation"), communicator = word_in(skew, "communicator");
    const int64_t last = integer_in(skew, "last_rank");
    table.add({operation == "mark" ? communicator : operation + " of " + communicator,
               util::count_text(integer_in(skew, "compared")), time_or_dash(skew, "skew_p50_ns", style),
               time_or_dash(skew, "skew_p99_ns", style), time_or_dash(skew, "skew_max_ns", style),
               error_text(skew, style),
               last < 0 ? "-" : fmt::format("rank {} ({} x)", last, integer_in(skew, "last_times"))});
  }
  return table.text(style);
}

std::string bytes_by_node_text(const ordered_json& merged, const TextStyle& style) {
  TextTable table({"FILE SYSTEMS", "read", "written", "time"});
  for (const ordered_json& row : list_in(merged, "bytes")) {
    const std::string system = word_in(row, "file_system");
    table.add({fmt::format("{} on {}", system.empty() ? "other files" : system,
                           node_name(merged, integer_in(row, "node_id"))),
               util::bytes_text(integer_in(row, "bytes_read")), util::bytes_text(integer_in(row, "bytes_written")),
               time_or_dash(row, "time_ns", style)});
  }
  return table.empty() ? "" : table.text(style);
}

}  // namespace

std::string merged_text(const ordered_json& merged, const std::string& trace, const TextStyle& style, bool problems) {
  const auto nodes = static_cast<int64_t>(list_in(merged, "nodes").size());
  std::set<int64_t> ranks;
  for (const ordered_json& rank : list_in(merged, "ranks")) ranks.insert(integer_in(rank, "rank"));
  ranks.erase(-1);
  std::string text = fmt::format("{}{}{}{}trace {}\n", counted(nodes, "node"), style.dot(),
                                 counted(static_cast<int64_t>(ranks.size()), "rank"), style.dot(), printable(trace));
  for (const ordered_json& problem : list_in(merged, "problems")) {
    if (problems && problem.is_string()) text += paragraph("! " + printable(problem.get<std::string>()), 2, 4, style);
  }
  for (const std::string& block : {nodes_text(merged, style), ranks_text(merged, style), slowest_text(merged, style),
                                   skews_text(merged, style), bytes_by_node_text(merged, style)}) {
    if (!block.empty()) text += "\n" + block;
  }
  return text;
}

}  // namespace mlrun::report
