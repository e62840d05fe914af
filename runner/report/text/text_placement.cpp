// SPDX-License-Identifier: Apache-2.0
// The rules of --place: what each was about, and where its pages were.
#include <signal.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

struct Placed {
  int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0, peak_bytes = 0;
  int64_t resident_bytes = 0;           // of the processes whose pages were sampled
  std::map<int64_t, int64_t> bytes_on;  // by node, estimated
};

// Adds up one rule over all processes; the peak is that of the largest process.
Placed placed_by(const json& run, size_t rule) {
  Placed placed;
  for (const json& process : util::list_at(run, "/placement/processes")) {
    const std::string counts = fmt::format("/rules/{}/", rule);
    placed.matches += util::integer_at(process, counts + "matches");
    placed.bytes += util::integer_at(process, counts + "bytes");
    placed.fallbacks += util::integer_at(process, counts + "fallbacks");
    placed.fallback_bytes += util::integer_at(process, counts + "fallback_bytes");
    placed.peak_bytes = std::max(placed.peak_bytes, util::integer_at(process, counts + "peak_bytes"));
    int64_t resident = 0;
    for (const json& page : util::list_at(process, "/pages")) {
      if (util::integer_at(page, "/rule") != static_cast<int64_t>(rule)) continue;
      placed.bytes_on[util::integer_at(page, "/node")] += util::integer_at(page, "/bytes");
      resident = util::integer_at(page, "/resident_bytes");
    }
    placed.resident_bytes += resident;
  }
  return placed;
}

std::string pages_text(const Placed& placed) {
  int64_t all = 0;
  for (const auto& [node, bytes] : placed.bytes_on) all += bytes;
  std::string text;
  for (const auto& [node, bytes] : placed.bytes_on) {
    text += fmt::format("{}{} of its pages on node {}", text.empty() ? "" : ", ", percent_text(bytes, all), node);
  }
  if (placed.resident_bytes > 0)
    text += fmt::format(", {} of what is resident", percent_text(all, placed.resident_bytes));
  return text;
}

std::string not_sampled_text(const json& run) {
  const std::string problem = util::text_at(run, "/placement/problem");
  return fmt::format("pages not sampled ({})", problem.empty() ? "less than a second" : problem);
}

std::string rule_text(const json& run, size_t rule, const std::string& text, const TextStyle& style) {
  const Placed placed = placed_by(run, rule);
  const std::string head = style.bold("PLACED") + "  '" + printable(text) + "'  ";
  const bool maps = util::flag_at(run, fmt::format("/placement/rules/{}/mmap", rule));
  const std::string what = maps ? "mapping" : "block";
  if (placed.matches == 0) return wrap(head, kLead, {style.warning("no " + what + " fits this rule")}, style);
  std::vector<std::string> items = {counted(placed.matches, what) + " of " + bytes_text(placed.bytes)};
  // How long mappings of the program's own live is not known.
  if (!maps) items.push_back("at most " + bytes_text(placed.peak_bytes) + " at once in a process");
  if (placed.fallbacks > 0) {
    items.push_back(
        style.warning(fmt::format("{} of {} not placed: no memory, a limit reached, or (pmem) a forked process",
                                  counted(placed.fallbacks, what), bytes_text(placed.fallback_bytes))));
  }
  const std::string folder = util::text_at(run, fmt::format("/placement/rules/{}/folder", rule));
  if (!folder.empty())
    items.push_back("in files in " + printable(folder));
  else
    items.push_back(placed.bytes_on.empty() ? not_sampled_text(run) : pages_text(placed));
  return wrap(head, kLead, items, style);
}

// A process that NUMA balancing moves pages for is not where it was put.
std::string balancing_text(const json& run, const TextStyle& style) {
  const int64_t moved = util::integer_at(run, "/placement/counted/numa_pages_migrated");
  if (moved == 0) return {};
  return wrap(style.bold("PLACED"), kLead,
              {style.warning(counted(moved, "page") + " of the whole machine moved by NUMA balancing meanwhile")},
              style);
}

}  // namespace

std::string killed_by_rule(const Summary& summary) {
  const json& run = *summary.run;
  const int64_t status = util::integer_at(run, "/exit_status");
  if (status != 128 + SIGKILL || util::integer_at(run, "/placement/counted/oom_kill") == 0) return {};
  const json& rules = util::list_at(run, "/placement/rules");
  for (size_t i = 0; i < rules.size(); i++) {
    if (!util::flag_at(rules[i], "/strict") || placed_by(run, i).matches == 0) continue;
    return fmt::format("killed by the kernel for want of memory; strict rule '{}'",
                       printable(util::text_at(rules[i], "/text")));
  }
  return {};
}

std::string placement_text(const Summary& summary, const TextStyle& style) {
  const json& rules = util::list_at(*summary.run, "/placement/rules");
  std::string out;
  if (!rules.empty() && util::integer_at(*summary.run, "/placement/images", -1) == 0) {
    return wrap(
        style.bold("PLACED"), kLead,
        {style.warning("no program of the run could be given the rules: its memory is where it would be anyway")},
        style);
  }
  if (!rules.empty() && util::json_at(*summary.run, "/placement/processes").is_null()) {
    return wrap(style.bold("PLACED"), kLead,
                {style.warning("unknown: mlrun was killed, and what it had counted of the rules is lost")}, style);
  }
  for (size_t i = 0; i < rules.size(); i++) out += rule_text(*summary.run, i, util::text_at(rules[i], "/text"), style);
  if (const int64_t without = util::integer_at(*summary.run, "/placement/without_memory"); without > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(counted(without, "program") +
                               " could not have a heap of ours: their blocks are where they would be anyway")},
                style);
  }
  if (!rules.empty()) out += balancing_text(*summary.run, style);
  return out;
}

}  // namespace mlrun::summary
