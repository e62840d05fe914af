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
#include "runner/util/json_at.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

constexpr size_t kSyscallsShown = 10;

// "more than 9 min 10 s": beyond the last bucket bound.
std::string below_text(const json& entry, const char* where, const Glyphs& glyphs) {
  constexpr int64_t kLastNs = int64_t{1} << (MLRUN_SYSCALL_BUCKETS - 1);
  if (util::json_at(entry, where).is_null()) return "more than " + time_text(kLastNs, glyphs);
  return time_text(util::integer_at(entry, where), glyphs);
}

}  // namespace

std::string syscalls_text(const Summary& summary, const TextStyle& style) {
  const json& all = util::json_at(*summary.run, "/kernel_side/syscalls");
  if (!all.is_array()) return {};
  TextTable table({"SYSTEM CALLS", "calls", "errors", "time", "p50 below", "p99 below", "processes"});
  for (size_t i = 0; i < std::min(all.size(), kSyscallsShown); i++) {
    const json& entry = all.at(i);
    if (!entry.is_object()) continue;
    const std::string name = util::text_at(entry, "/name");
    const auto bound = [&](const char* where) { return below_text(entry, where, style.glyphs); };
    table.add({name.empty() ? "?" : printable(name), count_text(util::integer_at(entry, "/calls")),
               count_text(util::integer_at(entry, "/errors")),
               time_text(util::integer_at(entry, "/time_ns"), style.glyphs), bound("/p50_below_ns"),
               bound("/p99_below_ns"), count_text(util::integer_at(entry, "/processes"))});
  }
  if (all.size() > kSyscallsShown) {
    table.add_note(fmt::format("{} more: mlrun show TRACE syscall", all.size() - kSyscallsShown));
  }
  return table.text(style);
}

}  // namespace mlrun::summary
