// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/kernel_recorded.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr const char* kFaultFunction = "filemap_fault";

bool has_function(const SessionInfo& session, const char* function) {
  const json& programs = session.list("/kernel_side/programs");
  return std::none_of(programs.begin(), programs.end(), [&](const json& program) {
    return util::text_at(program, "/event") == function && program.contains("missing");
  });
}

bool records_operations(const SessionInfo& session) {
  const std::string mechanism = mechanism_of(session, "file operations");
  return !mechanism.empty() && mechanism != "tracepoint";
}

}  // namespace

std::string mechanism_of(const SessionInfo& session, std::string_view signal) {
  return session.has_kernel_side() ? session.attached_by(signal) : std::string();
}

bool records_faults(const SessionInfo& session) {
  return records_operations(session) && has_function(session, kFaultFunction);
}

bool records_asynchronous_io(const SessionInfo& session) { return records_operations(session); }

std::string kernel_side_hint(const SessionInfo& session) {
  const std::string state = session.text("/kernel_side/state");
  if (state.empty()) return "mlrun doctor reports whether --kprobes can record them here";
  if (state != "recorded") return "the kernel side, which could have recorded them, failed: see its own row";
  return records_operations(session) ? "the kernel side found no function for them in this kernel"
                                     : "the kernel side recorded no file operations here, so it lacks them too";
}

}  // namespace mlrun::trace
