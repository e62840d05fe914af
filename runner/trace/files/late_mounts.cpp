// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/late_mounts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

struct LateMount {
  uint64_t since_ns = 0;  // when all its functions were attached
  int attached = 0;
  std::string missing;
};

void add(const model::KernelSide::Program& program, std::map<std::string, LateMount>& mounts) {
  if (program.file_system.empty() || program.since_ns.value_or(-1) < 0) return;
  LateMount& mount = mounts[program.file_system];
  mount.since_ns = std::max(mount.since_ns, static_cast<uint64_t>(*program.since_ns));
  if (program.missing) {
    mount.missing = *program.missing;
  } else {
    ++mount.attached;
  }
}

}  // namespace

void add_late_mounts(const model::Run& session, model::TraceInfo& info) {
  std::map<std::string, LateMount> mounts;
  for (const auto& program : session.kernel_side.programs) add(program, mounts);
  for (const auto& [type, mount] : mounts) {
    std::string detail = "first mounted during the run";
    if (mount.attached > 0)
      detail += fmt::format("; recorded from {} ns on", TraceClock::from_monotonic(mount.since_ns));
    if (!mount.missing.empty()) detail += "; some operations are not recorded: " + mount.missing;
    info.coverage.push_back({0, "operations on files of " + type, detail, -1, -1});
  }
}

}  // namespace mlrun::trace
