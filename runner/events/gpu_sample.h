// SPDX-License-Identifier: Apache-2.0
// Samples of GPUs: payload of frames of type MLRUN_FRAME_SAMPLES. A header, then `rows` rows of `row_bytes` each,
// ordered by time. Rows only grow at their end: a reader ignores the unknown end of a longer row, and fields missing in
// a shorter one are unknown.
#pragma once

#include "runner/events/types.h"

enum mlrun_sample_table {
  MLRUN_SAMPLE_GPU = 1,
  MLRUN_SAMPLE_GPU_PROCESS = 2,
  MLRUN_SAMPLE_GPU_DRIVER = 3,
  MLRUN_SAMPLE_THREAD = 4,   // host_sample.h
  MLRUN_SAMPLE_MACHINE = 5,  // host_sample.h
  // counter_sample.h
  MLRUN_SAMPLE_CPU = 6,
  MLRUN_SAMPLE_DISK = 7,
  MLRUN_SAMPLE_NET = 8,
  MLRUN_SAMPLE_MEMORY = 9,
  MLRUN_SAMPLE_PROCESS = 10,
  MLRUN_SAMPLE_BANDWIDTH = 11,
  MLRUN_SAMPLE_ACCESS = 12,  // access_sample.h
  MLRUN_SAMPLE_PAGE = 13,    // page_sample.h
};

struct mlrun_frame_samples {
  __u32 table;  // enum mlrun_sample_table
  __u32 row_bytes, rows, spare;
};

#define MLRUN_NOT_KNOWN ((__s64)-0x7fffffffffffffffll - 1)

// Values of a GPU sample. "In the interval": since the previous sample. Numbers are never reused.
enum mlrun_gpu_field {
  MLRUN_GPU_SM_PERCENT,   // share of time in which a kernel ran, over the driver's own window
  MLRUN_GPU_MEM_PERCENT,  // share of time in which device memory was read or written
  MLRUN_GPU_ENC_PERCENT,
  MLRUN_GPU_DEC_PERCENT,
  MLRUN_GPU_JPG_PERCENT,
  MLRUN_GPU_OFA_PERCENT,
  MLRUN_GPU_POWER_MW,
  MLRUN_GPU_ENERGY_MJ,  // in the interval
  MLRUN_GPU_TEMPERATURE_C,
  MLRUN_GPU_MEMORY_TEMPERATURE_C,
  MLRUN_GPU_MEMORY_CLOCK_MHZ,
  MLRUN_GPU_SM_CLOCK_MHZ,
  MLRUN_GPU_THROTTLE,              // bits, enum mlrun_throttle
  MLRUN_GPU_POWER_VIOLATION_NS,    // in the interval: limited by power
  MLRUN_GPU_THERMAL_VIOLATION_NS,  // in the interval: limited by temperature
  MLRUN_GPU_FB_USED,               // bytes of device memory, without reserved ones
  MLRUN_GPU_BAR1_USED,
  MLRUN_GPU_ECC_CORRECTED,  // errors since the driver was loaded
  MLRUN_GPU_ECC_UNCORRECTED,
  MLRUN_GPU_PCIE_REPLAYS,   // since the driver was loaded
  MLRUN_GPU_PCIE_RX_BYTES,  // in the interval; received by the GPU
  MLRUN_GPU_PCIE_TX_BYTES,
  MLRUN_GPU_NVLINK_RX_BYTES,  // in the interval, all links
  MLRUN_GPU_NVLINK_TX_BYTES,
  MLRUN_GPU_FAN_PERCENT,
  MLRUN_GPU_PERFORMANCE_STATE,
  // Hopper and later (GPM), means over the interval in parts per million of the maximum.
  MLRUN_GPU_GRAPHICS_PPM,      // any engine of the compute and graphics pipe busy
  MLRUN_GPU_SM_ACTIVE_PPM,     // multiprocessors with a warp
  MLRUN_GPU_SM_OCCUPANCY_PPM,  // warps
  MLRUN_GPU_TENSOR_PPM,        // tensor cores
  MLRUN_GPU_DRAM_PPM,          // bandwidth of device memory

  MLRUN_GPU_FB_FREE,         // bytes of device memory
  MLRUN_GPU_PROTECTED_USED,  // bytes of device memory that are protected, by confidential computing
  MLRUN_GPU_FIELDS
};

struct mlrun_gpu_sample {
  __u64 monotonic_ns;
  __u64 interval_ns;               // since the previous sample; 0: the first one
  __u32 device, spare;             // number in the frames of type MLRUN_FRAME_GPU
  __s64 values[MLRUN_GPU_FIELDS];  // MLRUN_NOT_KNOWN: this GPU or driver does not report it
};

// How mlrun identified the process by the pid that the driver reports.
enum mlrun_pid_source {
  MLRUN_PID_UNKNOWN,    // the process is not identified
  MLRUN_PID_SAME,       // the driver's pid is the pid that mlrun sees
  MLRUN_PID_NAMESPACE,  // the driver's pid is that in the process's own pid namespace
  MLRUN_PID_ONLY        // no pid matches, but the driver reports only one, and only one process has a GPU open
};

enum mlrun_gpu_use { MLRUN_GPU_USE_COMPUTE = 1, MLRUN_GPU_USE_GRAPHICS = 2, MLRUN_GPU_USE_MPS = 4 };

// A process on a GPU. Percentages: mean of the driver's samples in the interval, -1: none.
struct mlrun_gpu_process_sample {
  __u64 monotonic_ns, interval_ns;
  __u32 device;
  __u32 driver_pid, pid;  // as the driver reports it; as mlrun sees it, 0: unknown
  __u32 pid_source;       // enum mlrun_pid_source
  __u32 use;              // enum mlrun_gpu_use bits
  __u32 driver_samples;
  __s32 gpu_instance, compute_instance;  // MIG; -1: none
  __s32 sm, mem, enc, dec, jpg, ofa;
  __s64 fb_used, fb_protected;  // bytes; MLRUN_NOT_KNOWN
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_gpu_process_sample) == 88, "GPU process sample");

// The driver's own samples between two of mlrun's. Numbers are never reused.
enum mlrun_gpu_driver_field {
  MLRUN_GPU_DRIVER_POWER_MW,
  MLRUN_GPU_DRIVER_SM_PERCENT,   // as MLRUN_GPU_SM_PERCENT, of a shorter time
  MLRUN_GPU_DRIVER_MEM_PERCENT,  // as MLRUN_GPU_MEM_PERCENT, of a shorter time
  MLRUN_GPU_DRIVER_SM_CLOCK_MHZ,
  MLRUN_GPU_DRIVER_FIELDS
};
struct mlrun_gpu_driver_sample {
  __u64 monotonic_ns;  // by the driver's time stamp
  __u32 device, field;
  __s64 value;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_gpu_driver_sample) == 24, "driver's sample of a GPU");
