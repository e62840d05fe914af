// SPDX-License-Identifier: Apache-2.0
// Signals of the kernel: recorded ones with their mechanism, missing ones with the reason.
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/util/units.h"

namespace mlrun::report {
namespace {

// Empty: no thread was throttled.
std::string throttled_text(const Summary& summary, const TextStyle& style) {
  const auto& throttled = summary.run.kernel_side.throttled;
  if (!throttled) return {};
  return fmt::format("too many pages were dirty: writers held up for {}, in {} sleeps",
                     util::time_text(throttled->asleep_ns, style.glyphs), util::count_text(throttled->waits));
}

}  // namespace

std::string kernel_text(const Summary& summary, const TextStyle& style) {
  std::map<std::string, std::string> works;  // names by mechanism
  std::vector<std::string> missing, notes;
  for (const model::KernelSide::Signal& signal : summary.run.kernel_side.signals) {
    const std::string name = printable(signal.signal), mechanism = printable(signal.mechanism),
                      reason = printable(signal.missing);
    std::string& names = works[mechanism];
    if (!mechanism.empty()) names += (names.empty() ? "" : ", ") + name;
    if (!signal.note.empty()) notes.push_back(name + ": " + printable(signal.note));
    if (reason.empty()) continue;
    missing.push_back(mechanism.empty() ? "without " + name + ": " + reason : name + " without " + reason);
  }
  std::vector<std::string> items;
  for (const auto& [mechanism, names] : works) {
    if (!mechanism.empty()) items.push_back("by " + mechanism + ": " + names);
  }
  if (const std::string throttled = throttled_text(summary, style); !throttled.empty()) items.push_back(throttled);
  items.insert(items.end(), notes.begin(), notes.end());
  items.insert(items.end(), missing.begin(), missing.end());
  return items.empty() ? "" : wrap(style.bold("KERNEL SIDE"), kLead, items, style);
}

}  // namespace mlrun::report
