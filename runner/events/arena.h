// SPDX-License-Identifier: Apache-2.0
// The arena: the memory shared by recording threads and the collector.
//
//   control page | path rules | placement | owner[] | drained[] | staging ring | segment 0 | segment 1 | ...   (offsets: in the control page)
//
// It is a sparse file, created and owned by the collector. A traced process maps it once at load and needs no system
// call to record. A thread claims 64 KiB segments by compare-and-swap on owner[] and appends records (record.h) to
// them; the collector copies finished records out, into frames (spool.h), and frees the segment.
//
// LAP RULE. A segment is a row of 16-byte units. The low byte of a unit's first word is its tag:
//     tag == lap of the segment   a record starts here and is complete (this word is stored last)
//     tag == 0                    inside a record, or not written yet
// Laps run 1..255 and payload never uses a tag byte, so neither an old payload nor a half-written one can look like a
// record, and a reader finds the next record behind a hole of any size. When the lap wraps, the collector zeroes the
// segment.
#pragma once

#include "runner/events/types.h"

#define MLRUN_ARENA_MAGIC 0x006e75726c6d2e31ull  // "1.mlrun"
#define MLRUN_ABI         11u

enum {
  MLRUN_SEGMENT_BYTES = 65536,
  MLRUN_SEGMENT_HEADER_BYTES = 64,
  MLRUN_UNIT_BYTES = 16,
  MLRUN_CONTROL_BYTES = 4096,
  MLRUN_RULES_BYTES = 16384,
  MLRUN_MAX_SEGMENTS = 65536,  // 4 GiB
  MLRUN_CHANNEL_BYTES = 4096,
  MLRUN_CHANNELS_PER_SEGMENT = 15,  // slot 0 of a descriptor segment is its header
  MLRUN_STAGE_BYTES = 2 << 20,
};

// Every process compares this with its own generation word on the hot path.
enum mlrun_state { MLRUN_RUN = 1, MLRUN_PAUSE = 2, MLRUN_STOP = 3 };

enum mlrun_clock_kind { MLRUN_CLOCK_TSC = 1, MLRUN_CLOCK_MONOTONIC = 2 };

// Why an event has no record. Counted in the thread's channel, by the kind of the dropped record.
enum mlrun_drop { MLRUN_DROP_FULL, MLRUN_DROP_GAVE_UP, MLRUN_DROP_REASONS };

// What a dropped record would have contained. Definitions in the same reservation (strings, open files, stacks) are not
// counted: they come with the next record.
enum mlrun_dropped {
  MLRUN_DROPPED_FILE_CALL,     // a call on a file or descriptor, and every call that is not of the next two kinds
  MLRUN_DROPPED_PROCESS_CALL,  // a call of the class PROCESS
  MLRUN_DROPPED_WAIT,          // a call of the class WAIT that took long enough to be recorded
  MLRUN_DROPPED_ALLOCATION,    // malloc and all that return a block, realloc too
  MLRUN_DROPPED_FREE,
  MLRUN_DROPPED_MARK,   // a mark, or the end of a range
  MLRUN_DROPPED_GPU,    // work of a GPU, or a note about it
  MLRUN_DROPPED_OTHER,  // no event: a process, its end, a thread's name; open files or libraries alone
  MLRUN_DROPPED_KINDS
};

// Why a process, or a thread of one, records nothing at all. Counted in the control page.
enum mlrun_failure {
  MLRUN_FAIL_NO_CHANNEL,  // events dropped because no descriptor was free; by kind in without_channel
  MLRUN_FAIL_NO_ROOM,     // processes whose address-space limit is too low for the mapping
  MLRUN_FAIL_ABI,         // processes that carry another version of the library
  MLRUN_FAIL_NO_CLOCK,    // processes that gave up their time stamp counter (seccomp strict, PR_SET_TSC)
  MLRUN_FAIL_NO_ROBUST,   // threads whose robust list was not found: their end is not seen
  MLRUN_FAIL_FD_RANGE,    // calls on descriptors beyond the process's table
  MLRUN_FAIL_SAMPLES,     // sampled blocks that did not fit in the process's table: their end is not seen
  MLRUN_FAIL_NO_STACKS,   // processes without memory for the stack walker
  MLRUN_FAIL_MARK_NAMES,  // names and domains of NVTX beyond the limit: marks have no name, or no domain
  MLRUN_FAIL_WALKS,       // walks through folders (ftw, nftw, fts_open): their reads inside libc leave no record
  MLRUN_FAIL_STREAMS,     // streams beyond the limit in a flush of all streams: not examined
  MLRUN_FAIL_BOUND_DEEP,  // libraries loaded with RTLD_DEEPBIND or by dlmopen: their calls of libc are not seen
  MLRUN_FAIL_BY_HANDLE,   // lookups of hooked functions by libc's own handle: calls of the result are not seen
  MLRUN_FAIL_KINDS,
  MLRUN_FAILURES = 16  // of the control page: has room for more
};
MLRUN_STATIC_ASSERT(MLRUN_FAIL_KINDS <= MLRUN_FAILURES, "each failure has a count");

// The control page. Written by the collector, unless a comment names another writer; "targets": the traced processes.
struct mlrun_control {
  __u64 magic;
  __u32 abi;
  __u32 clock_kind;       // enum mlrun_clock_kind, for every thread channel
  __u32 lossless;         // a full pool makes threads wait instead of dropping
  __u32 segment_count;    // capacity of the arena
  __u64 alloc_min_bytes;  // allocations of this usable size and more are events, smaller ones are counted
  __u32 streams;          // enum mlrun_stream bits
  __u32 wait_min_ticks;   // waits shorter than this leave no record
  __u64 owner_offset, drained_offset, stage_offset, segments_offset, arena_bytes;
  __u8 session[16];  // UUID
  // 0: all; else one byte in so many is sampled, and only a block with such a byte is an event
  __u64 alloc_sample_bytes;
  __u32 rules_bytes;        // used bytes of the path rules behind this page (path_rules.h); 0: all files are recorded
  __u32 stack_depth;        // maximum frames of a recorded stack; 0: only return addresses
  __u32 graph_nodes_per_s;  // nodes of CUDA graphs: above this rate launches are recorded, below it nodes

  __u32 state __attribute__((aligned(64)));  // enum mlrun_state; shares its line only with words that seldom change
  __u32 available_segments;                  // allocated in the file so far; only these may be claimed
  __u32 heartbeat;                           // collector: incremented in each pass
  __u32 added_up;                            // collector: records taken into sums, modulo 2^32 (--summary-only)
  __u64 paused_ns, resumed_ns;               // CLOCK_MONOTONIC, written by the verbs pause and resume
  __u32 renames;  // targets: incremented by each rename, since known paths of folders may then be wrong

  __u32 segment_high __attribute__((aligned(64)));  // targets: 1 + highest segment ever claimed
  __u32 free_segments_hint;                         // both: free segments, kept with atomic adds; read as signed
  __u32 wake;                                       // futex the collector sleeps on
  __u32 woken;                                      // targets: 1 once a thread has woken it
  __u32 space;        // collector: incremented by each freed segment and each allocation step; futex of waiters
  __u32 waiters;      // targets: threads that wait on `space`
  __u32 gave_up;      // targets: 1 + `space` when a waiter gave up; no thread waits until it changes
  __u32 arena_ended;  // collector: 1 when the file system is too full for the rest of the arena

  __u32 next_open_file __attribute__((aligned(64)));  // targets: last open file description number taken
  __u32 next_process;                                 // targets: last process number assigned
  __u32 next_image;                                   // targets: last image number assigned
  __u32 gpu_processes;                                // targets: processes in which GPU work is recorded
  __u64 next_channel;                                 // targets: last channel serial assigned

  __u64 stage_head __attribute__((aligned(64)));  // bytes ever put into the staging ring
  __u64 stage_tail;                               // bytes of these that are in the spool file

  __u32 collector_lock[10] __attribute__((aligned(64)));  // pthread_mutex_t, robust and shared, held by the collector
  __u64 failures[MLRUN_FAILURES] __attribute__((aligned(64)));  // targets: enum mlrun_failure
  __u64 without_channel[MLRUN_DROPPED_KINDS];                   // targets: MLRUN_FAIL_NO_CHANNEL, by enum mlrun_dropped
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_control) <= MLRUN_CONTROL_BYTES, "control page");

enum mlrun_stream {
  MLRUN_STREAM_FILES = 1,
  MLRUN_STREAM_ALLOCS = 2,
  MLRUN_STREAM_MARKS = 4,
  MLRUN_STREAM_GPU = 8,
  MLRUN_STREAM_GPU_GRAPHS = 16,  // launches of graphs as a whole, instead of their nodes
  MLRUN_STREAM_ALLOC_TIMES = 32  // durations of all recorded allocations and frees
};

// Segment header. (clock, monotonic_ns) is one 16-byte store, so a signal handler cannot split a pair.
struct mlrun_segment {
  __u64 clock, monotonic_ns;
  __u32 channel;  // descriptor id of the owner
  __u32 lap;
  __u64 spare[5];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_segment) == MLRUN_SEGMENT_HEADER_BYTES, "segment header");

// Owner word of a segment: {lap 8 | owner 24}. Owner 0: free. MLRUN_OWNER_DESCRIPTORS: the segment holds channel
// descriptors, permanently. MLRUN_OWNER_PREPARING: a thread prepares it for descriptors; it must not be read, and it is
// lost if this thread dies now. Else 1 + descriptor id, and a descriptor id is {segment * 16 + slot}, slot 1..15.
#define MLRUN_OWNER_MASK        0x00ffffffu
#define MLRUN_OWNER_DESCRIPTORS 0x00ffffffu
#define MLRUN_OWNER_PREPARING   0x00fffffeu

enum mlrun_channel_state { MLRUN_CHANNEL_FREE, MLRUN_CHANNEL_CLAIMED, MLRUN_CHANNEL_LIVE };

// Counters below the allocation threshold: 64 classes of 16 bytes, then four per doubling up to 1 GiB (alloc_class.h).
enum { MLRUN_FINE_CLASSES = 64, MLRUN_COARSE_CLASSES = 80 };

struct mlrun_fine_count {
  __u64 allocs, frees;
};
struct mlrun_coarse_count {
  __u64 allocs, frees, alloc_bytes, free_bytes;
};

// Calls on files that the path rules leave out.
struct mlrun_left_out {
  __u64 calls, bytes_read, bytes_written;
  __u64 time;  // sum of their durations, on the channel's clock
};

// One recording thread. The first 40 bytes are laid out like glibc's robust mutex, so that the kernel marks the owner's
// death in `lock` (FUTEX_OWNER_DIED) after return, _exit, SIGKILL and exec, in any pid namespace.
struct mlrun_channel {
  __u32 lock, spare0[5];
  struct {
    __u64 previous, next;
  } node;
  __u32 state;           // enum mlrun_channel_state: targets FREE -> CLAIMED -> LIVE, collector -> FREE (all zeroed)
  __u32 pid, tid;        // as the process sees them, in its pid namespace
  __u32 process, image;  // numbers from next_process and next_image
  __u32 spare1;
  __u64 serial;         // from next_channel: identifies this use of the descriptor permanently
  __u64 pid_namespace;  // inode
  __u64 next_seq;       // collector: sequence number of the channel's next frame
  __u64 drops[MLRUN_DROP_REASONS][MLRUN_DROPPED_KINDS];
  struct mlrun_left_out left_out;
  struct mlrun_fine_count fine[MLRUN_FINE_CLASSES];
  struct mlrun_coarse_count coarse[MLRUN_COARSE_CLASSES];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_channel) <= MLRUN_CHANNEL_BYTES, "channel descriptor");
MLRUN_STATIC_ASSERT(__builtin_offsetof(struct mlrun_channel, node) == 24, "robust mutex layout");
