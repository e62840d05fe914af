// SPDX-License-Identifier: Apache-2.0
// The live view of an observation (mlrun --kprobes=cuda --pid PID --live 2s): reads the kernel side's file
// while mlrun-probes writes it and shows a table at intervals. The trace is the same as without the live view.
#pragma once

#include <cstdint>
#include <string>

#include "runner/monitor/cuda_memory.h"
#include "runner/monitor/kernel_tail.h"
#include "runner/monitor/screen.h"

namespace mlrun::monitor {

class CudaLive {
 public:
  // Requires: `kernel_file` exists. `now_ns`, here and in pass(), is CLOCK_MONOTONIC.
  CudaLive(const std::string& kernel_file, uint64_t interval_ns, uint64_t now_ns);

  // Reads new records and shows the table when due; to be called repeatedly, at any rate.
  void pass(uint64_t now_ns);

 private:
  void keep_shown(const Result<bool>& shown);
  [[nodiscard]] std::string heading(uint64_t now_ns) const;

  KernelTail tail_;
  CudaMemory memory_;
  Screen screen_;
  std::string since_;
  uint64_t interval_ns_, next_read_ns_, next_show_ns_;
  bool is_shown_ = true;  // the output has a reader
};

}  // namespace mlrun::monitor
