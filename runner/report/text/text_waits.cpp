// SPDX-License-Identifier: Apache-2.0
// Waits by role: for descriptors, other threads, processes, timers. They are not part of I/O time.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

constexpr size_t kWaitRolesShown = 4, kWaitFuncsShown = 3;

struct RoleWaits {
  std::string role;
  int64_t time_ns = 0;
  std::vector<std::pair<std::string, int64_t>> funcs;  // name, time
};

template <typename Items, typename Time>
void sort_by_time(Items& items, Time time) {
  std::stable_sort(items.begin(), items.end(), [&](const auto& a, const auto& b) { return time(b) < time(a); });
}

std::vector<RoleWaits> waits_by_role(const Summary& summary) {
  std::map<std::string, std::map<std::string, int64_t>> sums;
  for (const summary::ProcessSummary& process : summary.processes) {
    for (const summary::WaitSummary& wait : process.waits) util::add_to(sums[process.role][wait.name], wait.time_ns);
  }
  std::vector<RoleWaits> roles;
  for (const auto& [role, funcs] : sums) {
    RoleWaits& waits = roles.emplace_back(RoleWaits{role, 0, {funcs.begin(), funcs.end()}});
    for (const auto& [name, time_ns] : waits.funcs) util::add_to(waits.time_ns, time_ns);
    sort_by_time(waits.funcs, [](const auto& func) { return func.second; });
  }
  sort_by_time(roles, [](const RoleWaits& waits) { return waits.time_ns; });
  return roles;
}

std::string role_text(const RoleWaits& waits, const TextStyle& style) {
  std::string out = fmt::format("{} {} (", waits.role, util::time_text(waits.time_ns, style.glyphs));
  for (size_t i = 0; i < waits.funcs.size() && i < kWaitFuncsShown; ++i) {
    const auto& [name, time_ns] = waits.funcs[i];
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", name, util::time_text(time_ns, style.glyphs));
  }
  return out + (waits.funcs.size() > kWaitFuncsShown ? ", ...)" : ")");
}

}  // namespace

std::string waits_text(const Summary& summary, const TextStyle& style) {
  const auto roles = waits_by_role(summary);
  std::vector<std::string> items;
  for (size_t i = 0; i < roles.size() && i < kWaitRolesShown; ++i) items.push_back(role_text(roles[i], style));
  if (roles.size() > kWaitRolesShown) items.push_back(fmt::format("{} more roles", roles.size() - kWaitRolesShown));
  return items.empty() ? "" : wrap(style.bold("WAITED"), kLead, items, style);
}

}  // namespace mlrun::report
