// SPDX-License-Identifier: Apache-2.0
// The live view of an observation (mlrun --kprobes=cuda --pid PID --live 2s): reads the kernel side's file along with the
// program that writes it and shows a table now and then. The trace is what it would be without.
#pragma once

#include <cstdint>
#include <string>

#include "runner/monitor/cuda_memory.h"
#include "runner/monitor/kernel_tail.h"
#include "runner/monitor/screen.h"

namespace mlrun::monitor {

class CudaLive {
 public:
  // Requires: `kernel_file` is there. `now_ns`: CLOCK_MONOTONIC, as below.
  CudaLive(const std::string& kernel_file, uint64_t interval_ns, uint64_t now_ns);

  // Reads what has come and shows the table when it is due; to be called again and again, as often as one likes.
  void pass(uint64_t now_ns);

 private:
  void keep_shown(const Result<bool>& shown);
  [[nodiscard]] std::string heading(uint64_t now_ns) const;

  KernelTail tail_;
  CudaMemory memory_;
  Screen screen_;
  std::string since_;
  uint64_t interval_ns_, next_read_ns_, next_show_ns_;
  bool is_shown_ = true;  // somebody reads
};

}  // namespace mlrun::monitor
