// SPDX-License-Identifier: Apache-2.0
#include "runner/report/run_facts.h"

#include <array>
#include <ctime>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

std::optional<int64_t> number(const json& run, const char* where) {
  const json& found = util::json_at(run, where);
  return found.is_number() ? std::optional(found.get<int64_t>()) : std::nullopt;
}

std::vector<std::string> list(const json& run, const char* where) {
  std::vector<std::string> texts;
  for (const json& text : util::list_at(run, where)) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace

RunFacts run_facts(const json& run) {
  RunFacts facts;
  const std::vector<std::string> words = list(run, "/command");
  facts.command = words.empty() ? util::text_at(run, "/command") : fmt::format("{}", fmt::join(words, " "));
  facts.exit_status = number(run, "/exit_status");
  facts.wall_ns = number(run, "/wall_ns");
  facts.user_ns = number(run, "/user_ns");
  facts.sys_ns = number(run, "/sys_ns");
  facts.start_monotonic_ns = number(run, "/start_ns");
  if (!facts.start_monotonic_ns) facts.start_monotonic_ns = number(run, "/clock/start/monotonic_ns");
  facts.start_realtime_ns = number(run, "/clock/start/realtime_ns");
  facts.end_monotonic_ns = number(run, "/end_ns");
  facts.events = number(run, "/totals/events");
  facts.losses = number(run, "/totals/losses");
  facts.kernel_records = number(run, "/kernel_side/records");
  facts.collector_cpu_ns = number(run, "/collector/cpu_ns");
  facts.has_kernel_side = util::text_at(run, "/kernel_side/state") == "recorded";
  facts.recovered = util::flag_at(run, "/recovered");
  facts.medium = util::text_at(run, "/collector/medium");
  facts.graph_nodes_per_s = number(run, "/options/graph_nodes_per_s");
  facts.folded_nodes = number(run, "/gpu_work/folded_nodes");
  facts.fold_ns = number(run, "/options/fold_ns");
  facts.summary_only = util::flag_at(run, "/options/summary_only");
  const auto streams = nlohmann::json::json_pointer("/options/streams");
  facts.preload_off = run.contains(streams) && run.at(streams).empty();
  facts.last_ns = number(run, "/options/last_ns");
  facts.events_from_ns = number(run, "/events_from_ns");
  facts.cpus = util::text_at(run, "/placement/cpus");
  facts.mem_nodes = util::text_at(run, "/placement/mem_node");
  facts.include = list(run, "/options/include");
  facts.exclude = list(run, "/options/exclude");
  if (!facts.wall_ns && facts.start_monotonic_ns && facts.end_monotonic_ns) {
    facts.wall_ns = *facts.end_monotonic_ns - *facts.start_monotonic_ns;
  }
  return facts;
}

std::string date_text(int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  std::tm local{};
  std::array<char, 32> text{};
  localtime_r(&seconds, &local);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

}  // namespace mlrun::summary
