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
  if (state.empty()) return "mlrun doctor says whether --kprobes has them here";
  if (state != "recorded") return "the kernel side, which would have them, was not recorded";
  return records_operations(session) ? "the kernel side has no function of this kernel for them"
                                     : "the kernel side recorded no file operations here, and has not got them";
}

}  // namespace mlrun::trace
