// SPDX-License-Identifier: Apache-2.0
// Accesses to memory (--access): rows of frames of type MLRUN_FRAME_SAMPLES (gpu_sample.h). Rows only grow at their end. Numbers are
// never reused.
#pragma once

#include "runner/events/gpu_sample.h"

// The mechanism that observed the access. runner/samplers/access/README.md lists what each one cannot observe.
enum mlrun_access_rung {
  MLRUN_ACCESS_PRECISE = 1,  // events of the processor, with address and data source
  MLRUN_ACCESS_HINT_FAULTS,  // page faults, those of NUMA balancing among them
  MLRUN_ACCESS_COLD,         // accessed bits, cleared by MADV_COLD, which flushes translations
  MLRUN_ACCESS_CLEAR_REFS,   // accessed bits, cleared by /proc/PID/clear_refs, without that flush
  MLRUN_ACCESS_DAMON,        // regions by DAMON
  MLRUN_ACCESS_SOFT_DIRTY,   // written pages
  MLRUN_ACCESS_FAULTS,       // page faults alone: first accesses
  MLRUN_ACCESS_RUNGS
};

enum mlrun_access_kind {
  MLRUN_ACCESS_FAULT = 1,  // a page, read or written
  MLRUN_ACCESS_LOAD,
  MLRUN_ACCESS_STORE,
  MLRUN_ACCESS_TOUCHED,  // a range of which touched_bytes were read or written in the window
  MLRUN_ACCESS_WRITTEN,  // a range that was written in the window
  MLRUN_ACCESS_KINDS
};

enum mlrun_access_flag {
  // Pages were added to the range in the window: they count as touched without another access. Of soft-dirty bits: the mapping grew, and what was
  // written in its older part, this range, is unknown.
  MLRUN_ACCESS_FILLING = 1,
  // A fault found no page mapped at the address, so the kernel filled one: a first access, or an access after MADV_DONTNEED.
  MLRUN_ACCESS_UNMAPPED = 2,
  // A fault found a page mapped at the address: a hint fault of NUMA balancing, or a copy on write. Neither flag: unknown (before Linux 5.11).
  MLRUN_ACCESS_MAPPED = 4
};

struct mlrun_access_sample {
  __u64 monotonic_ns, interval_ns;  // time of the event; of a window its end and its length
  __u32 host_pid, host_tid;         // as mlrun sees them; tid 0: any thread
  __u64 address, bytes;  // the mapping or region; a fault: an address in a page of so many bytes; bytes 0: this address
  __u64 touched_bytes;   // in whole pages, huge ones among them
  __u64 resident_bytes, huge_bytes;
  __u64 count, count_max;  // events that the row represents; DAMON: checks that found an access, of count_max checks
  __u64 ip, data_source;   // union perf_mem_data_src
  __u64 latency;           // in cycles; 0: unknown
  __s32 cpu;               // -1: unknown
  __u16 rung, kind;
  __u32 flags, spare;
};
