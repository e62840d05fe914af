// SPDX-License-Identifier: Apache-2.0
// Recording of GPU work (--cupti), as the runner sees it: whether it can work here, and whether it did.
#pragma once

#include <string>

#include "runner/options/options.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// Whether the kernel has a driver of NVIDIA.
bool has_gpu_driver();

// Decides what =auto means here.
void settle_gpu_side(RunOptions& options, const launch::Installation& installation);

// Why GPU work cannot be recorded though it was asked for.
Status check_cupti(const RunOptions& options, const launch::Installation& installation);

// Why the command is not to be run: GPUs cannot be sampled, and that is required or the only stream that was left on.
Status check_samples(const RunOptions& options);

// Says so when no process started CUDA. False: none did, and one was required.
bool tell_if_no_gpu_work(const RunOptions& options, uint32_t gpu_processes);

// The library for the environment; "": not wanted.
std::string gpu_library(const RunOptions& options, const launch::Installation& installation);

}  // namespace mlrun::commands
