// SPDX-License-Identifier: Apache-2.0
// Samples of the machine's counters (--sample=cpu,disk,net,memory,process): rows of frames of type MLRUN_FRAME_SAMPLES
// (gpu_sample.h). Rows only grow at their end. Values are increases in the interval; "now": the state at its end.
// Unknown values are MLRUN_NOT_KNOWN. Numbers are never reused.
#pragma once

#include "runner/events/gpu_sample.h"

// Times of a processor by its state, as mpstat shows them: no time is in two fields.
enum mlrun_cpu_field {
  MLRUN_CPU_USER_NS,  // without guests
  MLRUN_CPU_NICE_NS,  // without guests
  MLRUN_CPU_SYSTEM_NS,
  MLRUN_CPU_IDLE_NS,
  MLRUN_CPU_IOWAIT_NS,
  MLRUN_CPU_IRQ_NS,
  MLRUN_CPU_SOFTIRQ_NS,
  MLRUN_CPU_STEAL_NS,
  MLRUN_CPU_GUEST_NS,
  MLRUN_CPU_GUEST_NICE_NS,
  MLRUN_CPU_FIELDS
};
struct mlrun_cpu_sample {
  __u64 monotonic_ns, interval_ns;  // end and length of the interval
  __u32 cpu, spare;
  __s64 values[MLRUN_CPU_FIELDS];
};

// In the order of /proc/diskstats.
enum mlrun_disk_field {
  MLRUN_DISK_READS,
  MLRUN_DISK_READS_MERGED,
  MLRUN_DISK_READ_BYTES,
  MLRUN_DISK_READ_NS,  // added up over requests, from queueing to completion
  MLRUN_DISK_WRITES,
  MLRUN_DISK_WRITES_MERGED,
  MLRUN_DISK_WRITTEN_BYTES,
  MLRUN_DISK_WRITE_NS,
  MLRUN_DISK_IN_FLIGHT,  // now
  MLRUN_DISK_BUSY_NS,    // with at least one request
  MLRUN_DISK_QUEUE_NS,   // added up over requests, also those under way
  MLRUN_DISK_DISCARDS,   // from here on Linux 4.18
  MLRUN_DISK_DISCARDS_MERGED,
  MLRUN_DISK_DISCARDED_BYTES,
  MLRUN_DISK_DISCARD_NS,
  MLRUN_DISK_FLUSHES,  // from here on Linux 5.5
  MLRUN_DISK_FLUSH_NS,
  MLRUN_DISK_FIELDS
};
struct mlrun_disk_sample {
  __u64 monotonic_ns, interval_ns;
  __u32 major, minor;
  char name[32];  // not terminated if it is full
  __s64 values[MLRUN_DISK_FIELDS];
};

// In the order of /proc/net/dev.
enum mlrun_net_field {
  MLRUN_NET_RX_BYTES,
  MLRUN_NET_RX_PACKETS,
  MLRUN_NET_RX_ERRORS,
  MLRUN_NET_RX_DROPPED,
  MLRUN_NET_RX_FIFO,
  MLRUN_NET_RX_FRAME,
  MLRUN_NET_RX_COMPRESSED,
  MLRUN_NET_RX_MULTICAST,
  MLRUN_NET_TX_BYTES,
  MLRUN_NET_TX_PACKETS,
  MLRUN_NET_TX_ERRORS,
  MLRUN_NET_TX_DROPPED,
  MLRUN_NET_TX_FIFO,
  MLRUN_NET_TX_COLLISIONS,
  MLRUN_NET_TX_CARRIER,
  MLRUN_NET_TX_COMPRESSED,
  MLRUN_NET_FIELDS
};
struct mlrun_net_sample {
  __u64 monotonic_ns, interval_ns;
  char name[16];  // not terminated if it is full
  __s64 values[MLRUN_NET_FIELDS];
};

// The whole machine, or one NUMA node. Fields that are commented as of the machine, those from /proc/vmstat and pressure
// stall information are unknown in rows of nodes.
enum mlrun_memory_field {
  MLRUN_MEMORY_TOTAL_BYTES,  // now, like the fields down to HUGE_PAGES_FREE
  MLRUN_MEMORY_FREE_BYTES,
  MLRUN_MEMORY_AVAILABLE_BYTES,  // machine
  MLRUN_MEMORY_BUFFERS_BYTES,    // machine
  MLRUN_MEMORY_CACHED_BYTES,     // node: FilePages, which includes buffers and swap cache
  MLRUN_MEMORY_ANON_BYTES,
  MLRUN_MEMORY_ANON_HUGE_BYTES,
  MLRUN_MEMORY_SHMEM_BYTES,
  MLRUN_MEMORY_MAPPED_BYTES,
  MLRUN_MEMORY_ACTIVE_BYTES,
  MLRUN_MEMORY_INACTIVE_BYTES,
  MLRUN_MEMORY_UNEVICTABLE_BYTES,
  MLRUN_MEMORY_DIRTY_BYTES,
  MLRUN_MEMORY_WRITEBACK_BYTES,
  MLRUN_MEMORY_SLAB_BYTES,
  MLRUN_MEMORY_SLAB_RECLAIMABLE_BYTES,
  MLRUN_MEMORY_PAGE_TABLES_BYTES,
  MLRUN_MEMORY_COMMITTED_BYTES,   // machine
  MLRUN_MEMORY_SWAP_TOTAL_BYTES,  // machine
  MLRUN_MEMORY_SWAP_FREE_BYTES,   // machine
  MLRUN_MEMORY_HUGE_PAGES,        // hugetlb
  MLRUN_MEMORY_HUGE_PAGES_FREE,
  // As numastat has them: pages in the interval.
  MLRUN_MEMORY_NUMA_HIT,
  MLRUN_MEMORY_NUMA_MISS,
  MLRUN_MEMORY_NUMA_FOREIGN,
  MLRUN_MEMORY_INTERLEAVE_HIT,
  MLRUN_MEMORY_LOCAL_NODE,
  MLRUN_MEMORY_OTHER_NODE,
  // From /proc/vmstat: of the whole machine, in the interval.
  MLRUN_MEMORY_PAGED_IN_BYTES,
  MLRUN_MEMORY_PAGED_OUT_BYTES,
  MLRUN_MEMORY_SWAPPED_IN,  // pages
  MLRUN_MEMORY_SWAPPED_OUT,
  MLRUN_MEMORY_FAULTS,
  MLRUN_MEMORY_MAJOR_FAULTS,
  MLRUN_MEMORY_SCANNED_KSWAPD,
  MLRUN_MEMORY_SCANNED_DIRECT,
  MLRUN_MEMORY_RECLAIMED_KSWAPD,
  MLRUN_MEMORY_RECLAIMED_DIRECT,
  MLRUN_MEMORY_ALLOC_STALLS,  // of all zones
  MLRUN_MEMORY_COMPACT_STALLS,
  MLRUN_MEMORY_OOM_KILLS,
  MLRUN_MEMORY_REFAULTS_ANON,
  MLRUN_MEMORY_REFAULTS_FILE,
  MLRUN_MEMORY_NUMA_PTE_UPDATES,
  MLRUN_MEMORY_NUMA_HINT_FAULTS,
  MLRUN_MEMORY_NUMA_HINT_FAULTS_LOCAL,
  MLRUN_MEMORY_NUMA_MIGRATED,
  MLRUN_MEMORY_MIGRATED,
  MLRUN_MEMORY_MIGRATIONS_FAILED,
  MLRUN_MEMORY_PROMOTED,
  MLRUN_MEMORY_DEMOTED,  // by all causes
  MLRUN_MEMORY_THP_FAULTS,
  MLRUN_MEMORY_THP_FALLBACKS,
  MLRUN_MEMORY_THP_SPLITS,
  // Pressure stall information, as in mlrun_machine_field.
  MLRUN_MEMORY_PSI_CPU_SOME_NS,
  MLRUN_MEMORY_PSI_IO_SOME_NS,
  MLRUN_MEMORY_PSI_IO_FULL_NS,
  MLRUN_MEMORY_PSI_SOME_NS,
  MLRUN_MEMORY_PSI_FULL_NS,
  MLRUN_MEMORY_PSI_IRQ_FULL_NS,  // Linux 6.1
  MLRUN_MEMORY_FIELDS
};
struct mlrun_memory_sample {
  __u64 monotonic_ns, interval_ns;
  __s32 node;  // -1: the machine
  __u32 spare;
  __s64 values[MLRUN_MEMORY_FIELDS];
};

enum mlrun_process_field {
  MLRUN_PROCESS_USER_NS,
  MLRUN_PROCESS_SYSTEM_NS,
  MLRUN_PROCESS_MINOR_FAULTS,
  MLRUN_PROCESS_MAJOR_FAULTS,
  MLRUN_PROCESS_VOLUNTARY_SWITCHES,  // of a thread; of a process unknown, since /proc/PID has only its main thread's
  MLRUN_PROCESS_INVOLUNTARY_SWITCHES,
  MLRUN_PROCESS_RUN_NS,   // of a thread, by the scheduler: on a processor
  MLRUN_PROCESS_RUNQ_NS,  // of a thread: ready, and waiting for a processor
  MLRUN_PROCESS_READ_CHARS,
  MLRUN_PROCESS_WRITTEN_CHARS,
  MLRUN_PROCESS_READ_CALLS,
  MLRUN_PROCESS_WRITE_CALLS,
  MLRUN_PROCESS_READ_BYTES,  // from devices
  MLRUN_PROCESS_WRITTEN_BYTES,
  MLRUN_PROCESS_CANCELLED_BYTES,
  MLRUN_PROCESS_THREADS,    // now, like the fields below; of a process
  MLRUN_PROCESS_RSS_BYTES,  // of a process
  MLRUN_PROCESS_SHARED_BYTES,
  MLRUN_PROCESS_PSS_BYTES,
  MLRUN_PROCESS_PROCESSOR,  // the one on which the thread ran last
  MLRUN_PROCESS_FIELDS
};
// A process as a whole or one of its threads. Its first row covers the time since its creation, so its rows add up to
// its totals.
struct mlrun_process_sample {
  __u64 monotonic_ns, interval_ns;
  __u32 host_pid, host_tid;  // host_tid 0: the whole process
  __u32 state;               // letter of /proc/PID/stat; 0: unknown
  __u32 is_first;            // 1: its first row
  char comm[16];             // not terminated if it is full
  __s64 values[MLRUN_PROCESS_FIELDS];
};

// The source of the figures of memory bandwidth.
enum mlrun_bandwidth_source {
  MLRUN_BANDWIDTH_UNCORE = 1,      // uncore events of perf
  MLRUN_BANDWIDTH_PCM_SERVER = 2,  // pcm-sensor-server of Intel PCM
  MLRUN_BANDWIDTH_PCM_MEMORY = 3,  // pcm-memory of Intel PCM
  MLRUN_BANDWIDTH_RESCTRL = 4,
  MLRUN_BANDWIDTH_SOURCES
};
enum mlrun_bandwidth_kind {
  MLRUN_BANDWIDTH_DRAM = 1,
  MLRUN_BANDWIDTH_PMEM = 2,
  MLRUN_BANDWIDTH_CXL = 3,
  MLRUN_BANDWIDTH_ALL = 4,  // resctrl does not tell kinds of memory apart
  MLRUN_BANDWIDTH_KINDS
};
enum mlrun_bandwidth_field {
  MLRUN_BANDWIDTH_READ_BYTES,
  MLRUN_BANDWIDTH_WRITTEN_BYTES,
  MLRUN_BANDWIDTH_TOTAL_BYTES,
  MLRUN_BANDWIDTH_LOCAL_BYTES,  // of the total: to memory of the socket that made the access
  MLRUN_BANDWIDTH_FIELDS
};
struct mlrun_bandwidth_sample {
  __u64 monotonic_ns, interval_ns;
  __u32 source, kind;
  __s32 socket, channel;  // socket -1: unknown; channel -1: all of them
  __s64 values[MLRUN_BANDWIDTH_FIELDS];
};
