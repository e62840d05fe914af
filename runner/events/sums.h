// SPDX-License-Identifier: Apache-2.0
// sums.bin: what --summary-only keeps of the events, as frames by the rules of the spool (spool.h). The file is replaced
// as a whole, by renaming, so it is always one state of the sums; what is in it does not stand in the spool.
#pragma once

#include "runner/events/spool.h"

// --summary-only: calls or allocations that are alike, added up. Behind it stand the record that stands for all of them
// (record_units), buckets of their durations and buckets of the sizes asked for.
enum mlrun_sum_flag {
  MLRUN_SUM_NO_FILE = 1,     // beyond the bound of files: of several, with the type in file_mode
  MLRUN_SUM_NO_STRETCH = 2,  // beyond the bound of sums: of several stretches
  MLRUN_SUM_NO_DETAIL = 4,   // likewise: of several files and sites, the type of the files in file_mode
  MLRUN_SUM_OF_STRETCH = 8,  // all calls on files in one stretch, without a record or buckets
};
struct mlrun_sum {
  __u32 bytes;  // of the entry, with all that stands behind it
  __u32 stretch;
  __u16 record_units, time_buckets, size_buckets, flags;
  __u32 file_mode;  // type of the file as st_mode has it, | 1: of memory or of the kernel's own; 0: not known
  __u32 spare;
  __u64 calls, served_calls;
  __u64 moved, written;                         // bytes: moved, or asked for (allocations); written: of a stretch alone
  __u64 time, min_time, max_time, first, last;  // on the clock of the channels
};
// Durations in nanoseconds, four buckets to a doubling (mlrun_time_bucket); sizes by their bit width.
struct mlrun_sum_bucket {
  __u64 index, calls, bytes;
};
static inline __u64 mlrun_time_bucket(__u64 ns) {
  unsigned top = 63u - (unsigned)__builtin_clzll(ns | 1);
  return ns < 4 ? ns : (__u64)(top - 1) * 4 + (ns >> (top - 2) & 3);
}
// Smallest duration of a bucket. Requires: index <= MLRUN_TIME_BUCKETS.
#define MLRUN_TIME_BUCKETS 248u
static inline __u64 mlrun_time_bucket_low(__u64 index) {
  return index < 4 ? index : (4 + (index & 3)) << (index / 4 - 1);
}

// When the sums were written, and what they do not tell apart. `stretches`: how many struct mlrun_stretch follow; what
// is left of the frame behind them is struct mlrun_log_write.
struct mlrun_frame_sums_state {
  __u64 monotonic_ns, records;  // so many are in the sums
  __u64 late_marks, late_ns;    // lines of the log that came when records behind them had been added up; how late
  __u64 threads, reports, names, marks;  // left out, beyond their bounds
  __u64 stretches;
};
// The run from here to the next one; before the first one is stretch 0.
struct mlrun_stretch {
  __u64 first_monotonic_ns, number;
};
// A write to a log with MLLOG lines, the last of them at least; which log: by its place among the paths.
struct mlrun_log_write {
  __u64 monotonic_ns, bytes, log;
};
// An open file is the same file as another one, which a record describes.
struct mlrun_same_file {
  __u32 number, described;
};
struct mlrun_frame_timeline {
  __u64 first_monotonic_ns, bin_ns, bins;
};
struct mlrun_timeline_bin {
  __u64 bytes_read, bytes_written, time_ns;
};
// Peak of the live blocks, and whose they were then: `site` is a return address, or MLRUN_SITE_IS_STACK | a stack's id.
struct mlrun_frame_heap {
  __u64 peak_monotonic_ns, recorded_bytes, counted_bytes;
  __u64 recorded_allocations, counted_allocations, blocks_left_out, bytes_left_out, sites;
};
struct mlrun_heap_site {
  __u64 site, live_bytes;
};
