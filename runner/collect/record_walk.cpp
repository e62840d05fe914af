// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/record_walk.h"

namespace mlrun::collect {

// Most records are as long as the previous record. Guessing that length, with a predicted branch as the check, lets the CPU load the next
// record before this one has arrived. The empty asm keeps the compiler from replacing the guess by the loaded length.
Walk walk_records(const char* segment, uint32_t offset, uint8_t lap) {
  Walk walk;
  uint32_t at = offset;
  uint32_t bytes = 2 * MLRUN_UNIT_BYTES;
  uint32_t records = 0, calls = 0, allocs = 0;
  while (at < MLRUN_SEGMENT_BYTES) {
    const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(segment + at), __ATOMIC_ACQUIRE);
    if (static_cast<uint8_t>(word) != lap) break;
    const auto kind = static_cast<uint32_t>(word >> 16 & 0xffff);
    if (kind == MLRUN_PAD) {
      walk.closed = true;
      break;
    }
    const auto true_bytes = static_cast<uint32_t>(word >> 8 & 0xff) * MLRUN_UNIT_BYTES;
    if (true_bytes != bytes) {
      bytes = true_bytes;
      __asm__ volatile("" : "+r"(bytes));
    }
    if (bytes == 0 || bytes > MLRUN_SEGMENT_BYTES - at) {
      walk.corrupt = true;
      break;
    }
    at += bytes;
    records++;
    calls += kind >= MLRUN_CALL ? 1 : 0;
    allocs += kind - MLRUN_MALLOC < MLRUN_CALL - MLRUN_MALLOC ? 1 : 0;
  }
  walk.end = at;
  walk.records = records;
  walk.calls = calls;
  walk.allocs = allocs;
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
