// SPDX-License-Identifier: Apache-2.0
// Signals of the kernel side: recorded ones with their mechanism, missing ones with the reason.
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/text/text.h"
#include "runner/util/json_at.h"
#include "runner/util/units.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

std::string text_of(const json& signal, const char* where) { return printable(util::text_at(signal, where)); }

// Empty: no thread was throttled.
std::string throttled_text(const Summary& summary, const TextStyle& style) {
  const json& throttled = util::json_at(*summary.run, "/kernel_side/throttled");
  if (throttled.is_null()) return {};
  return fmt::format("too many pages were dirty: writers held up for {}, in {} sleeps",
                     time_text(util::integer_at(throttled, "/asleep_ns"), style.glyphs),
                     count_text(util::integer_at(throttled, "/waits")));
}

}  // namespace

std::string kernel_text(const Summary& summary, const TextStyle& style) {
  std::map<std::string, std::string> works;  // names by mechanism
  std::vector<std::string> missing, notes;
  for (const json& signal : util::list_at(*summary.run, "/kernel_side/signals")) {
    if (!signal.is_object()) continue;
    const std::string way = text_of(signal, "/way"), reason = text_of(signal, "/missing");
    std::string& names = works[way];
    if (!way.empty()) names += (names.empty() ? "" : ", ") + text_of(signal, "/signal");
    if (const std::string note = text_of(signal, "/note"); !note.empty()) {
      notes.push_back(text_of(signal, "/signal") + ": " + note);
    }
    if (reason.empty()) continue;
    const std::string name = text_of(signal, "/signal");
    missing.push_back(way.empty() ? "without " + name + ": " + reason : name + " without " + reason);
  }
  std::vector<std::string> items;
  for (const auto& [way, names] : works) {
    if (!way.empty()) items.push_back("by " + way + ": " + names);
  }
  if (const std::string throttled = throttled_text(summary, style); !throttled.empty()) items.push_back(throttled);
  items.insert(items.end(), notes.begin(), notes.end());
  items.insert(items.end(), missing.begin(), missing.end());
  return items.empty() ? "" : wrap(style.bold("KERNEL SIDE"), kLead, items, style);
}

}  // namespace mlrun::summary
