// SPDX-License-Identifier: Apache-2.0
#include "runner/report/run_facts.h"

#include <array>
#include <ctime>

#include <nlohmann/json.hpp>

#include "runner/report/run_json_values.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

std::optional<int64_t> number(const json& run, const char* pointer) {
  const json* found = find(run, pointer);
  return found && found->is_number() ? std::optional(found->get<int64_t>()) : std::nullopt;
}

std::string words(const json& run, const char* pointer) {
  const json* found = find(run, pointer);
  if (!found || !found->is_array()) return text(run, pointer);
  std::string out;
  for (const json& word : *found) {
    if (!out.empty()) out += ' ';
    if (word.is_string()) out += word.get_ref<const std::string&>();
  }
  return out;
}

std::vector<std::string> list(const json& run, const char* pointer) {
  std::vector<std::string> texts;
  const json* found = find(run, pointer);
  if (!found || !found->is_array()) return texts;
  for (const json& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace

RunFacts run_facts(const json& run) {
  RunFacts facts;
  facts.command = words(run, "/command");
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
  if (const json* recovered = find(run, "/recovered"); recovered && recovered->is_boolean())
    facts.recovered = *recovered;
  facts.medium = text(run, "/collector/medium");
  facts.graph_nodes_per_s = number(run, "/options/graph_nodes_per_s");
  facts.folded_nodes = number(run, "/gpu_work/folded_nodes");
  facts.fold_ns = number(run, "/options/fold_ns");
  if (const json* only = find(run, "/options/summary_only"); only && only->is_boolean()) facts.summary_only = *only;
  facts.last_ns = number(run, "/options/last_ns");
  facts.events_from_ns = number(run, "/events_from_ns");
  facts.cpus = text(run, "/placement/cpus");
  facts.mem_nodes = text(run, "/placement/mem_node");
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
