// SPDX-License-Identifier: Apache-2.0
// The spool: one append-only file of frames, written by the collector during the run and read by the merger.
//
//   chunk 0 (64 MiB): index frame, frame, frame, ... pad frame | chunk 1: index frame, ...
//
// A frame never crosses a chunk's end, so every multiple of MLRUN_SPOOL_CHUNK_BYTES is a frame's start and a reader may
// begin there. Frames are 64-byte aligned in the file: `payload_bytes` counts the payload, zeros follow up to the next
// frame. The file is written with O_DIRECT from the staging ring of the arena. If the collector is killed, the ring has
// the last bytes: file byte n, stage_tail <= n < stage_head, is ring byte n % MLRUN_STAGE_BYTES. Readers must trust nothing
// in the file.
#pragma once

#include "runner/events/arena.h"

#define MLRUN_SPOOL_MAGIC       0x4c50534du  // "MSPL"
#define MLRUN_SPOOL_CHUNK_BYTES (64ull << 20)
enum { MLRUN_SPOOL_VERSION = 1, MLRUN_FRAME_ALIGN = 64, MLRUN_FRAME_PAYLOAD_MAX = 1 << 20 };

enum mlrun_frame_type {
  MLRUN_FRAME_INDEX = 1,     // first in each chunk: struct mlrun_frame_index
  MLRUN_FRAME_PAD = 2,       // to the end of the chunk; payload not written
  MLRUN_FRAME_DATA = 3,      // records of one channel, in the order of its segment
  MLRUN_FRAME_ANCHOR = 4,    // struct mlrun_frame_anchor
  MLRUN_FRAME_CHANNEL = 5,   // struct mlrun_frame_channel: precedes the channel's data
  MLRUN_FRAME_COUNTERS = 6,  // struct mlrun_frame_counters, then its entries
  MLRUN_FRAME_PROCESS = 7,   // JSON text about a process, as the collector read it in /proc (FORMAT.md)
  MLRUN_FRAME_GAP = 8,       // struct mlrun_frame_gap
  MLRUN_FRAME_LEFT_OUT = 9,  // struct mlrun_frame_left_out
  MLRUN_FRAME_KEPT = 10,     // defining records, copied out of a data frame (kept.bin alone)
  // 11: MLRUN_FRAME_KERNEL (kernel_record.h)
  MLRUN_FRAME_GPU = 16,         // JSON text about a GPU (FORMAT.md): precedes its samples
  MLRUN_FRAME_SAMPLES = 17,     // struct mlrun_frame_samples, then its rows (gpu_sample.h)
  MLRUN_FRAME_PYTHON = 19,      // struct mlrun_frame_python, then its arrays (python_sample.h)
  MLRUN_FRAME_SUMS = 12,        // entries of struct mlrun_sum, of one process (sums.bin alone, as the next four)
  MLRUN_FRAME_SUMS_STATE = 13,  // struct mlrun_frame_sums_state, then its stretches
  MLRUN_FRAME_SAME_FILE = 14,   // struct mlrun_same_file, as many as there are
  MLRUN_FRAME_TIMELINE = 15,    // struct mlrun_frame_timeline, then its bins
  MLRUN_FRAME_HEAP = 18,        // struct mlrun_frame_heap, of one process, then its sites
  MLRUN_FRAME_DROPS = 20,       // struct mlrun_frame_drops, then its entries; only of channels that dropped records
};

struct mlrun_frame {
  __u32 magic;
  __u16 type, version;
  __u32 payload_bytes;
  __u32 crc32c;       // of header (with this field 0) and payload
  __u64 channel;      // channel serial; 0: the collector itself
  __u64 seq;          // per channel, from 0. Duplicates of (channel, seq): the longer frame counts
  __u64 first, last;  // the channel's clock at the collector's previous visit, and at this one
  __u32 lost;         // records dropped on the channel since its last frame, saturating
  __u32 lap;          // tag of this frame's records
  __u64 spare;        // data: segment << 32 | offset after its last record there, for a recovery; else 0
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_frame) == MLRUN_FRAME_ALIGN, "frame header");

struct mlrun_frame_index {
  __u64 chunk, first_monotonic_ns;
};

// One reading of all clocks, bracketed by the time stamp counter: the best of several.
struct mlrun_frame_anchor {
  __u64 tsc, width_ticks, monotonic_ns, realtime_ns, boottime_ns;
};

struct mlrun_frame_channel {
  __u32 pid, tid;            // in the process's own pid namespace
  __u32 host_pid, host_tid;  // as mlrun sees them; 0: unknown (already gone)
  __u32 process, image;
  __u64 pid_namespace;
  __u64 start_ticks;       // start_boottime of the process in clock ticks; 0: unknown
  __u32 clock_kind, kind;  // kind 1: a thread of the interposer
};

// Totals since the channel's beginning, of classes that changed since its last counters frame.
struct mlrun_frame_counters {
  __u64 monotonic_ns;
  __u64 drops[4];        // by enum mlrun_drop, unused ones 0; a drops frame beside this one has them by kind
  __u32 entries, final;  // final: the channel has ended
};
struct mlrun_counter_entry {
  __u64 class_bytes, allocs, frees, alloc_bytes, free_bytes;
};  // bytes 0 in fine classes

// Totals of dropped records since the channel's beginning, by kind.
struct mlrun_frame_drops {
  __u64 monotonic_ns;
  __u32 entries, spare;
};
struct mlrun_drop_entry {
  __u32 reason, kind;  // enum mlrun_drop, enum mlrun_dropped
  __u64 count;         // not 0
};

// Totals since the channel's beginning, of calls that the path rules leave out.
struct mlrun_frame_left_out {
  __u64 monotonic_ns;
  struct mlrun_left_out totals;
};

enum mlrun_gap_reason {
  MLRUN_GAP_TORN = 1,        // records begun and never finished; count = bytes of the holes
  MLRUN_GAP_CORRUPT = 2,     // a segment that breaks the rules; count = bytes discarded
  MLRUN_GAP_SPOOL_FULL = 3,  // the spool's limit: recording stopped; count = 0. Earlier versions: the disk, too
  MLRUN_GAP_COLLECTOR = 4,   // mlrun died; from its last heartbeat to the recovery
  MLRUN_GAP_PAUSED = 5,      // mlrun pause .. resume
  MLRUN_GAP_CUT_OFF = 6,     // still running at the end of the run; count = live threads
  MLRUN_GAP_OLD = 7,         // freed, because only the newest frames are kept; count = records. In kept.bin alone
  MLRUN_GAP_DISK_FULL = 8,   // the disk accepted no more of the spool: recording stopped; count = errno
};
struct mlrun_frame_gap {
  __u32 reason, spare;
  __u64 first_monotonic_ns, last_monotonic_ns, count;
};
