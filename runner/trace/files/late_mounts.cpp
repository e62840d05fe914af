// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/late_mounts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/trace/spool/trace_clock.h"
#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

struct LateMount {
  uint64_t since_ns = 0;  // when all its functions were attached
  int attached = 0;
  std::string missing;
};

void add(const json& program, std::map<std::string, LateMount>& mounts) {
  const std::string type = util::text_at(program, "/file_system");
  if (type.empty() || !util::json_at(program, "/since_ns").is_number_unsigned()) return;
  LateMount& mount = mounts[type];
  mount.since_ns = std::max(mount.since_ns, util::count_at(program, "/since_ns"));
  if (const json& missing = util::json_at(program, "/missing"); missing.is_string()) {
    mount.missing = missing.get<std::string>();
  } else {
    ++mount.attached;
  }
}

}  // namespace

void add_late_mounts(const SessionInfo& session, model::TraceInfo& info) {
  std::map<std::string, LateMount> mounts;
  for (const json& program : session.list("/kernel_side/programs")) add(program, mounts);
  for (const auto& [type, mount] : mounts) {
    std::string detail = "first mounted during the run";
    if (mount.attached > 0)
      detail += fmt::format("; recorded from {} ns on", TraceClock::from_monotonic(mount.since_ns));
    if (!mount.missing.empty()) detail += "; some operations are not recorded: " + mount.missing;
    info.coverage.push_back({0, "operations on files of " + type, detail, -1, -1});
  }
}

}  // namespace mlrun::trace
