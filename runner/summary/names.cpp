// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/names.h"

#include <cstring>
#include <unordered_map>

namespace mlrun::summary {

std::string class_name(mlrun_call_class call_class) {
  switch (call_class) {
    case MLRUN_CLASS_READ: return "read";
    case MLRUN_CLASS_WRITE: return "write";
    case MLRUN_CLASS_OPEN: return "open";
    case MLRUN_CLASS_CLOSE: return "close";
    case MLRUN_CLASS_SEEK: return "seek";
    case MLRUN_CLASS_SYNC: return "sync";
    case MLRUN_CLASS_META: return "metadata";
    case MLRUN_CLASS_MAP: return "map";
    case MLRUN_CLASS_FD: return "descriptor";
    case MLRUN_CLASS_PROCESS: return "process";
    case MLRUN_CLASS_COPY: return "copy";
    case MLRUN_CLASS_WAIT: return "wait";
  }
  return "unknown";
}

std::string group_name(Group group) {
  switch (group) {
    case Group::kFiles: return "files";
    case Group::kChannels: return "channels";
    case Group::kOther: return "other";
    case Group::kWaits: return "waits";
  }
  return "unknown";
}

std::string direction_name(Direction direction) { return direction == Direction::kRead ? "read" : "write"; }

std::string site_kind_name(SiteKind kind) { return kind == SiteKind::kAllocations ? "allocations" : "files"; }

std::string errno_name(int32_t err) {
  const char* name = strerrorname_np(err);
  return name ? name : "errno " + std::to_string(err);
}

int32_t errno_number(std::string_view name) {
  static const auto kNumbers = [] {
    constexpr int kMost = 4095;  // the kernel has no larger ones
    std::unordered_map<std::string_view, int32_t> numbers;
    for (int number = 1; number <= kMost; ++number) {
      if (const char* text = strerrorname_np(number)) numbers.emplace(text, number);
    }
    return numbers;
  }();
  const auto found = kNumbers.find(name);
  return found == kNumbers.end() ? 0 : found->second;
}

}  // namespace mlrun::summary
