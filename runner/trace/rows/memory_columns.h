// SPDX-License-Identifier: Apache-2.0
// The columns of sample_memory. Its rows come from --sample=memory or from the kernel side, which fills only some of the
// columns.
#pragma once

#include <array>
#include <cstdint>

#include "runner/events/counter_sample.h"
#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

// In the order of enum mlrun_memory_field.
inline constexpr std::array<const char*, MLRUN_MEMORY_FIELDS> kMemoryNames = {
    "total_bytes",      "free_bytes",       "available_bytes",  "buffers_bytes",
    "cached_bytes",     "anon_bytes",       "anon_huge_bytes",  "shmem_bytes",
    "mapped_bytes",     "active_bytes",     "inactive_bytes",   "unevictable_bytes",
    "dirty_bytes",      "writeback_bytes",  "slab_bytes",       "slab_reclaimable_bytes",
    "page_table_bytes", "committed_bytes",  "swap_total_bytes", "swap_free_bytes",
    "huge_pages",       "huge_pages_free",  "numa_hit",         "numa_miss",
    "numa_foreign",     "interleave_hit",   "local_node",       "other_node",
    "paged_in_bytes",   "paged_out_bytes",  "swapped_in",       "swapped_out",
    "faults",           "major_faults",     "scanned_kswapd",   "scanned_direct",
    "reclaimed_kswapd", "reclaimed_direct", "alloc_stalls",     "compact_stalls",
    "oom_kills",        "refaults_anon",    "refaults_file",    "numa_pte_updates",
    "numa_hint_faults", "numa_hint_local",  "numa_migrated",    "migrated",
    "migration_fails",  "promoted",         "demoted",          "thp_faults",
    "thp_fallbacks",    "thp_splits",       "cpu_some_ns",      "io_some_ns",
    "io_full_ns",       "memory_some_ns",   "memory_full_ns",   "irq_full_ns"};

// `row`: of the interval [ts_ns, ts_ns + dur_ns).
void visit_memory_columns(auto& visitor, int64_t ts_ns, int64_t dur_ns, const mlrun_memory_sample& row) {
  constexpr int32_t kMachine = -1;
  visitor("ts", ts_ns, tables::kDelta);
  visitor("dur", dur_ns);
  visitor.optional("node", int32_t{row.node}, kMachine);
  for (size_t field = 0; field < MLRUN_MEMORY_FIELDS; ++field)
    visitor.optional(kMemoryNames[field], int64_t{row.values[field]}, MLRUN_NOT_KNOWN);
}

}  // namespace mlrun::trace
