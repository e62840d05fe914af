// SPDX-License-Identifier: Apache-2.0
// Words that several rules use.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

std::string share_text(double part, double whole) {
  return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0.0);
}

std::string at_line(const Context& context, Cause cause) {
  const std::string line = context.top_line(cause);
  return line.empty() ? line : " at " + line;
}

std::string workers_text(const Context& context) {
  if (context.workers.empty()) return "the threads that it waited for";
  constexpr size_t kListed = 4;
  std::string busy;
  const size_t listed = std::min(kListed, context.workers.size());
  for (size_t i = 0; i < listed; ++i) {
    busy += fmt::format("{}{:.0f}", i == 0 ? "" : ", ", 100 * context.workers[i].busy);
  }
  const char* more = context.workers.size() > kListed ? ", ..." : "";
  return fmt::format("{} worker{}, busy {}{} % of that time", context.workers.size(),
                     context.workers.size() == 1 ? "" : "s", busy, more);
}

std::string more_workers(const Context& context) {
  const Machine& machine = context.machine;
  const double idle = machine.free();
  if (idle < 0) return "";
  const bool by_limit = idle < machine.idle;
  if (idle < 0.5 && by_limit)
    return fmt::format("; more workers would not help: the cgroup's limit of {:.1f} processors was used up",
                       machine.quota);
  if (idle < 0.5)
    return fmt::format("; more workers would not help: all {} processors were in use", machine.processors);
  const double more = std::max(1.0, std::floor(idle));
  return fmt::format("; or {:.0f} more worker{}: {:.1f} of {} processors were idle", more, more > 1 ? "s" : "", idle,
                     machine.processors);
}

std::string reads_text(const Context& context) {
  const blame::FileUse& use = context.use;
  if (use.reads == 0) return "no reads";
  return fmt::format("{} reads of {} on average", summary::count_text(use.reads),
                     summary::bytes_text(use.read_bytes / use.reads));
}

std::string who(const Context& context, Cause cause) {
  const int32_t thread = context.top_thread(cause);
  return thread == 0 ? std::string("an unknown thread") : context.name_of(thread);
}

}  // namespace mlrun::findings
