// SPDX-License-Identifier: Apache-2.0
// What the records of the kernel side add up to while their rows are made (kernel_rows.h).
#pragma once

#include <cstdint>

#include "runner/model/run.h"
#include "runner/trace/gpu/gpu_file_table.h"
#include "runner/trace/kernel/device_meter.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/kernel/outside_reads.h"
#include "runner/trace/kernel/syscall_table.h"

namespace mlrun::trace {

struct KernelTotals {
  DeviceMeter devices;
  SyscallTable syscalls;
  KernelLosses losses;
  OutsideReads outside_reads;
  GpuFileGaps gpu_file_gaps;
  int64_t requests = 0, fragments = 0, waits = 0, file_ops = 0, remotes = 0, gpu_file_calls = 0,
          torch_memories = 0;  // rows
  int64_t nameless_files = 0, unseen_processes = 0;
  model::KernelSide::Throttled throttled;
  uint64_t unknown_records = 0, torch_unread = 0;
};

}  // namespace mlrun::trace
