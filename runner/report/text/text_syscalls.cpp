// SPDX-License-Identifier: Apache-2.0
// System calls by name, of all recorded processes together.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/kernel_record.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

constexpr size_t kSyscallsShown = 10;

int64_t number(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

// "more than 9 min 10 s": beyond the last bucket bound.
std::string below_text(const json& entry, const char* key, const Glyphs& glyphs) {
  constexpr int64_t kLastNs = int64_t{1} << (MLRUN_SYSCALL_BUCKETS - 1);
  const auto found = entry.find(key);
  if (found != entry.end() && found->is_null()) return "more than " + time_text(kLastNs, glyphs);
  return time_text(number(entry, key), glyphs);
}

std::string name_of(const json& entry) {
  const auto name = entry.find("name");
  return name != entry.end() && name->is_string() ? printable(name->get<std::string>()) : "?";
}

}  // namespace

std::string syscalls_text(const Summary& summary, const TextStyle& style) {
  const json::json_pointer at("/kernel_side/syscalls");
  if (!summary.run->contains(at) || !summary.run->at(at).is_array()) return {};
  const json& all = summary.run->at(at);
  TextTable table({"SYSTEM CALLS", "calls", "errors", "time", "p50 below", "p99 below", "processes"});
  for (size_t i = 0; i < std::min(all.size(), kSyscallsShown); i++) {
    const json& entry = all.at(i);
    if (!entry.is_object()) continue;
    const auto bound = [&](const char* key) { return below_text(entry, key, style.glyphs); };
    table.add({name_of(entry), count_text(number(entry, "calls")), count_text(number(entry, "errors")),
               time_text(number(entry, "time_ns"), style.glyphs), bound("p50_below_ns"), bound("p99_below_ns"),
               count_text(number(entry, "processes"))});
  }
  if (all.size() > kSyscallsShown) {
    table.add_note(fmt::format("{} more: mlrun show TRACE syscall", all.size() - kSyscallsShown));
  }
  return table.text(style);
}

}  // namespace mlrun::summary
