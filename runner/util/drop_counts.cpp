// SPDX-License-Identifier: Apache-2.0
#include "runner/util/drop_counts.h"

#include <cstring>
#include <numeric>

namespace mlrun::util {

uint64_t drops_of(const DropCounts& counts, size_t reason) {
  return std::accumulate(counts[reason].begin(), counts[reason].end(), uint64_t{0});
}

uint64_t all_drops(const DropCounts& counts) {
  uint64_t sum = 0;
  for (size_t reason = 0; reason < counts.size(); reason++) sum += drops_of(counts, reason);
  return sum;
}

const char* name_of(mlrun_dropped kind) {
  switch (kind) {
    case MLRUN_DROPPED_FILE_CALL: return "file call";
    case MLRUN_DROPPED_PROCESS_CALL: return "process call";
    case MLRUN_DROPPED_WAIT: return "wait";
    case MLRUN_DROPPED_ALLOCATION: return "allocation";
    case MLRUN_DROPPED_FREE: return "free";
    case MLRUN_DROPPED_MARK: return "mark";
    case MLRUN_DROPPED_GPU: return "gpu";
    case MLRUN_DROPPED_OTHER:
    case MLRUN_DROPPED_KINDS: break;
  }
  return "other";
}

std::string drops_payload(uint64_t monotonic_ns, const DropCounts& counts) {
  mlrun_frame_drops body{monotonic_ns, 0, 0};
  std::string entries;
  for (uint32_t reason = 0; reason < MLRUN_DROP_REASONS; reason++) {
    for (uint32_t kind = 0; kind < MLRUN_DROPPED_KINDS; kind++) {
      const mlrun_drop_entry entry{reason, kind, counts[reason][kind]};
      if (entry.count == 0) continue;
      entries.append(reinterpret_cast<const char*>(&entry), sizeof entry);
      body.entries++;
    }
  }
  return std::string(reinterpret_cast<const char*>(&body), sizeof body) + entries;
}

DropCounts read_drops(const char* payload, size_t bytes) {
  DropCounts counts{};
  mlrun_frame_drops body{};
  if (bytes < sizeof body) return counts;
  std::memcpy(&body, payload, sizeof body);
  size_t at = sizeof body;
  for (uint32_t i = 0; i < body.entries && bytes - at >= sizeof(mlrun_drop_entry); i++) {
    mlrun_drop_entry entry{};
    std::memcpy(&entry, payload + at, sizeof entry);
    at += sizeof entry;
    if (entry.reason < MLRUN_DROP_REASONS && entry.kind < MLRUN_DROPPED_KINDS)
      counts[entry.reason][entry.kind] = entry.count;
  }
  return counts;
}

}  // namespace mlrun::util
