// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/kernel_recorded.h"

namespace mlrun::trace {

namespace {

constexpr const char* kFaultFunction = "filemap_fault";

bool records_operations(const model::Run& session) {
  const std::string mechanism = session.recorded_by("file operations");
  return !mechanism.empty() && mechanism != "tracepoint";
}

}  // namespace

bool records_faults(const model::Run& session) {
  return records_operations(session) && !session.kernel_side.lacks_program(kFaultFunction);
}

bool records_asynchronous_io(const model::Run& session) { return records_operations(session); }

std::string kernel_side_hint(const model::Run& session) {
  const std::string& state = session.kernel_side.state;
  if (state.empty()) return "mlrun doctor reports whether --kprobes can record them here";
  if (state != "recorded") return "the kernel side, which could have recorded them, failed: see its own row";
  return records_operations(session) ? "the kernel side found no function for them in this kernel"
                                     : "the kernel side recorded no file operations here, so it lacks them too";
}

}  // namespace mlrun::trace
