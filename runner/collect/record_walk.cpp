// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/record_walk.h"

namespace mlrun::collect {

Walk walk_records(const char* segment, uint32_t offset, uint8_t lap) {
  Walk walk;
  walk.end = offset;
  while (walk.end < MLRUN_SEGMENT_BYTES) {
    const auto* unit = reinterpret_cast<const uint64_t*>(segment + walk.end);
    const uint64_t word = __atomic_load_n(unit, __ATOMIC_ACQUIRE);
    if (static_cast<uint8_t>(word) != lap) break;
    const auto bytes = static_cast<uint32_t>(word >> 8 & 0xff) * MLRUN_UNIT_BYTES;
    const auto kind = static_cast<uint32_t>(word >> 16 & 0xffff);
    if (kind == MLRUN_PAD) {
      walk.closed = true;
      break;
    }
    if (bytes == 0 || bytes > MLRUN_SEGMENT_BYTES - walk.end) {
      walk.corrupt = true;
      break;
    }
    walk.end += bytes;
    walk.records++;
    walk.calls += kind >= MLRUN_CALL ? 1 : 0;
    walk.allocs += kind - MLRUN_MALLOC < MLRUN_CALL - MLRUN_MALLOC ? 1 : 0;
  }
  return walk;
}

uint32_t next_tagged_unit(const char* segment, uint32_t offset, uint8_t lap) {
  while (offset < MLRUN_SEGMENT_BYTES) {
    const auto* tag = reinterpret_cast<const uint8_t*>(segment + offset);
    if (__atomic_load_n(tag, __ATOMIC_ACQUIRE) == lap) break;
    offset += MLRUN_UNIT_BYTES;
  }
  return offset;
}

}  // namespace mlrun::collect
