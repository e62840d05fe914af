// SPDX-License-Identifier: Apache-2.0
// Samples of threads and of the machine, from /proc: rows of frames of type MLRUN_FRAME_SAMPLES (gpu_sample.h). Rows
// only grow at their end. Unknown values are MLRUN_NOT_KNOWN.
#pragma once

#include "runner/events/gpu_sample.h"

// Times and faults of a thread in an interval, by the kernel. The first row of a thread covers the time since its
// creation, so its rows add up to its totals.
struct mlrun_thread_sample {
  __u64 monotonic_ns, interval_ns;  // end and length of the interval
  __u32 process;                    // number of the process (mlrun_frame_channel.process)
  __u32 tid;                        // in the process's own pid namespace; 0: unknown
  __u32 host_pid, host_tid;
  __s64 utime_ns, stime_ns;  // in steps of a clock tick
  __s64 majflt;              // page faults that read from a device
  __s64 run_ns, runq_ns;     // on a processor; ready, and waiting for a processor
  __u32 state;               // letter of /proc/PID/task/TID/stat at the end of the interval
  __u32 is_first;            // 1: the thread's first row
  char comm[16];             // not terminated if it is full
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_thread_sample) == 96, "thread sample");

// Values of a machine sample. Times and counts are those of the interval, over all processors, unless a comment says
// "now". Numbers are never reused.
enum mlrun_machine_field {
  MLRUN_MACHINE_CPUS_ONLINE,   // now
  MLRUN_MACHINE_CPUS_ALLOWED,  // now: by --cpus or --cpu-node, else the affinity with which mlrun was started
  MLRUN_MACHINE_CPU_QUOTA,     // now: by the limits of the cgroup and its ancestors, in thousandths of a processor
  MLRUN_MACHINE_USER_NS,       // with nice
  MLRUN_MACHINE_SYSTEM_NS,     // with interrupts
  MLRUN_MACHINE_IDLE_NS,       // without iowait
  MLRUN_MACHINE_IOWAIT_NS,
  MLRUN_MACHINE_STEAL_NS,
  MLRUN_MACHINE_RUNNING,  // now: threads on a processor or ready
  // Pressure stall information: time in which some, or all, of the non-idle threads waited for the resource.
  MLRUN_MACHINE_CPU_SOME_NS,
  MLRUN_MACHINE_IO_SOME_NS,
  MLRUN_MACHINE_IO_FULL_NS,
  MLRUN_MACHINE_MEMORY_SOME_NS,
  MLRUN_MACHINE_MEMORY_FULL_NS,
  // Pressure stall information of the cgroup in which mlrun was started.
  MLRUN_MACHINE_CGROUP_CPU_SOME_NS,
  MLRUN_MACHINE_CGROUP_CPU_FULL_NS,
  MLRUN_MACHINE_CGROUP_IO_SOME_NS,
  MLRUN_MACHINE_CGROUP_IO_FULL_NS,
  MLRUN_MACHINE_CGROUP_MEMORY_SOME_NS,
  MLRUN_MACHINE_CGROUP_MEMORY_FULL_NS,
  // Figures of the cgroup's CPU limit, or of its nearest ancestor's that has one.
  MLRUN_MACHINE_THROTTLED,     // periods in which the limit was used up
  MLRUN_MACHINE_THROTTLED_NS,  // time for which the cgroup's processes were stopped, added up over processors
  MLRUN_MACHINE_FIELDS
};

struct mlrun_machine_sample {
  __u64 monotonic_ns, interval_ns;  // end and length of the interval
  __s64 values[MLRUN_MACHINE_FIELDS];
};
