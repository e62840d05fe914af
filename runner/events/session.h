// SPDX-License-Identifier: Apache-2.0
// Names that the launcher, the injected libraries and the control commands share.
#pragma once

// MLRUN_SESSION=<absolute path of the arena>,<bytes>,<seccomp filters of mlrun>,<trace folder>. The path contains no
// comma.
#define MLRUN_SESSION_VARIABLE "MLRUN_SESSION"
#define MLRUN_PRELOAD_LIBRARY  "libmlrun_preload.so"

// The library that records GPU work. It is in the folder of MLRUN_PRELOAD_LIBRARY and preloaded right after it; CUDA also
// loads it at its start.
#define MLRUN_CUPTI_LIBRARY  "libmlrun_cupti.so"
#define MLRUN_CUDA_INJECTION "CUDA_INJECTION64_PATH"

// The library that places blocks (--place). It is in the same folder and preloaded after both, so that the next library
// is the program's allocator.
#define MLRUN_PLACEMENT_LIBRARY "libmlrun_placement.so"

// Files of a trace folder during the run. They are removed when the trace is finished (--keep-raw keeps the spool).
#define MLRUN_SESSION_FILE "session.json"
#define MLRUN_SPOOL_FILE   "spool.bin"
#define MLRUN_KEPT_FILE    "kept.bin"    // with --last: frames that must outlive freed parts of the spool
#define MLRUN_KERNEL_FILE  "kernel.bin"  // the kernel side's spool
#define MLRUN_SUMS_FILE    "sums.bin"    // with --summary-only: the sums
