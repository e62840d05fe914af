// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/late_mounts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

struct LateMount {
  uint64_t since_ns = 0;  // when all its functions were attached
  int attached = 0;
  std::string missing;
};

void add(const json& program, std::map<std::string, LateMount>& mounts) {
  if (!program.is_object() || !program.contains("file_system") || !program["file_system"].is_string()) return;
  if (!program.contains("since_ns") || !program["since_ns"].is_number_unsigned()) return;
  LateMount& mount = mounts[program["file_system"].get<std::string>()];
  mount.since_ns = std::max(mount.since_ns, program["since_ns"].get<uint64_t>());
  if (program.contains("missing") && program["missing"].is_string()) {
    mount.missing = program["missing"].get<std::string>();
  } else {
    ++mount.attached;
  }
}

}  // namespace

void add_late_mounts(const SessionInfo& session, model::TraceInfo& info) {
  const json::json_pointer at("/kernel_side/programs");
  if (!session.all->contains(at) || !session.all->at(at).is_array()) return;
  std::map<std::string, LateMount> mounts;
  for (const json& program : session.all->at(at)) add(program, mounts);
  for (const auto& [type, mount] : mounts) {
    std::string detail = "it was first mounted while the run went on";
    if (mount.attached > 0) detail += fmt::format("; recorded from {} on", TraceClock::from_monotonic(mount.since_ns));
    if (!mount.missing.empty()) detail += "; not all of them: " + mount.missing;
    info.coverage.push_back({0, "operations on files of " + type, detail, -1, -1});
  }
}

}  // namespace mlrun::trace
