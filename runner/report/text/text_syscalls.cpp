// SPDX-License-Identifier: Apache-2.0
// System calls by name, of all recorded processes together.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/events/kernel_record.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

constexpr size_t kSyscallsShown = 10;

// The upper bound of a bucket; "more than 9 min 10 s" for the last one, which is open.
std::string below_text(model::Number ns, const util::Glyphs& glyphs) {
  constexpr int64_t kLastNs = int64_t{1} << (MLRUN_SYSCALL_BUCKETS - 1);
  return ns ? util::time_text(*ns, glyphs) : "more than " + util::time_text(kLastNs, glyphs);
}

}  // namespace

std::string syscalls_text(const Summary& summary, const TextStyle& style) {
  const auto& all = summary.run.kernel_side.syscalls;
  if (!all) return {};
  TextTable table({"SYSTEM CALLS", "calls", "errors", "time", "p50 below", "p99 below", "processes"});
  for (size_t i = 0; i < std::min(all->size(), kSyscallsShown); i++) {
    const model::KernelSide::Syscall& entry = (*all)[i];
    table.add({entry.name.empty() ? "?" : printable(entry.name), util::count_text(entry.calls),
               util::count_text(entry.errors), util::time_text(entry.time_ns, style.glyphs),
               below_text(entry.p50_below_ns, style.glyphs), below_text(entry.p99_below_ns, style.glyphs),
               util::count_text(entry.processes)});
  }
  if (all->size() > kSyscallsShown) {
    table.add_note(fmt::format("{} more: mlrun show TRACE syscall", all->size() - kSyscallsShown));
  }
  return table.text(style);
}

}  // namespace mlrun::report
