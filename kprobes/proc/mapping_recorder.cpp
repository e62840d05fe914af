// SPDX-License-Identifier: Apache-2.0
#include "kprobes/proc/mapping_recorder.h"

#include <functional>
#include <string>

#include "runner/events/kernel_record.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr size_t kTextMax = 60'000;                // a record's length has 16 bits
constexpr size_t kProcessesMax = size_t{1} << 16;  // beyond that, mappings may be recorded twice

}  // namespace

void MappingRecorder::record(uint32_t pid, std::string_view maps, uint64_t time_ns) {
  std::string lines;
  for (const std::string_view line : util::split(maps, "\n")) {
    const auto map = util::maps_line(line);
    if (map && map->is_code && map->has_file()) lines.append(line).push_back('\n');
  }
  const size_t hash = std::hash<std::string>{}(lines);
  const auto known = recorded_.find(pid);
  if (lines.empty() || (known != recorded_.end() && known->second == hash)) return;
  if (recorded_.size() >= kProcessesMax) recorded_.clear();
  recorded_[pid] = hash;
  std::string_view left = lines;
  while (!left.empty()) {
    const std::string_view first = left.substr(0, kTextMax);
    const size_t end = first.rfind('\n');
    if (end == std::string_view::npos) return;  // longer than any path
    put(pid, left.substr(0, end + 1), time_ns);
    left.remove_prefix(end + 1);
  }
}

void MappingRecorder::put(uint32_t pid, std::string_view lines, uint64_t time_ns) {
  mlrun_mappings_seen head{};
  head.head.kind = MLRUN_KERNEL_MAPPINGS;
  head.head.time_ns = time_ns;
  head.head.pid = head.head.tid = pid;
  head.text_bytes = static_cast<uint32_t>(lines.size());
  spool_.add_with_text(head, lines);  // kTextMax leaves room for the head
}

}  // namespace mlrun::probes
