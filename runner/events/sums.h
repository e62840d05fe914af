// SPDX-License-Identifier: Apache-2.0
// sums.bin: the sums of events with --summary-only, in frames as in the spool (spool.h). The file is replaced as a whole,
// by renaming, so it always contains the sums of one moment. The spool does not contain them.
#pragma once

#include "runner/events/spool.h"

// --summary-only: the sum of calls or allocations of the same kind. Followed by one record that represents them all
// (record_units), buckets of their durations and buckets of the requested sizes.
enum mlrun_sum_flag {
  MLRUN_SUM_NO_FILE = 1,     // beyond the limit of files: the sum of several files of the type in file_mode
  MLRUN_SUM_NO_STRETCH = 2,  // beyond the limit of sums: the sum of several stretches
  MLRUN_SUM_NO_DETAIL = 4,   // beyond the limit of sums: of several files of the type in file_mode, and several sites
  MLRUN_SUM_OF_STRETCH = 8,  // all calls on files in one stretch, without a record or buckets
};
struct mlrun_sum {
  __u32 bytes;  // of the entry, with all that follows it
  __u32 stretch;
  __u16 record_units, time_buckets, size_buckets, flags;
  __u32 file_mode;  // type of the file as in st_mode, | 1: of memory or of the kernel's own; 0: unknown
  __u32 spare;
  __u64 calls, served_calls;
  __u64 moved, written;                         // bytes: moved, or requested (allocations); written: of a stretch alone
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

// When the sums were written, and counts of what they left out or got late. Followed by `stretches` times struct
// mlrun_stretch, then by struct mlrun_log_write up to the frame's end.
struct mlrun_frame_sums_state {
  __u64 monotonic_ns, records;           // number of records in the sums
  __u64 late_marks, late_ns;             // log lines read after later records were added up; longest delay
  __u64 threads, reports, names, marks;  // left out, beyond their limits
  __u64 stretches;
};
// The part of the run from here to the next stretch; stretch 0 is before the first one.
struct mlrun_stretch {
  __u64 first_monotonic_ns, number;
};
// A write to a log of which at least the last line is an MLLOG line. `log`: index in the list of log paths.
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
// Peak of the live bytes of a process, and the sites of its live blocks at that time. `site` is a return address, or
// MLRUN_SITE_IS_STACK | a stack's id.
struct mlrun_frame_heap {
  __u64 peak_monotonic_ns, recorded_bytes, counted_bytes;
  __u64 recorded_allocations, counted_allocations, blocks_left_out, bytes_left_out, sites;
};
struct mlrun_heap_site {
  __u64 site, live_bytes;
};
