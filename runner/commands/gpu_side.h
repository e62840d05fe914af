// SPDX-License-Identifier: Apache-2.0
// Recording of GPU work (--cupti), runner side: whether it can work on this machine, and whether it did.
#pragma once

#include <string>

#include "runner/options/options.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// Whether NVIDIA's kernel driver is loaded.
bool has_gpu_driver();

// Resolves =auto on this machine.
void settle_gpu_side(RunOptions& options, const launch::Installation& installation);

// Why requested GPU work cannot be recorded.
Status check_cupti(const RunOptions& options, const launch::Installation& installation);

// Why the command must not run: what is to be sampled is not there, although required, or GPUs as the only stream.
Status check_samples(const RunOptions& options);

// Reports when no process started CUDA. False: none did although it was required.
bool say_if_no_gpu_work(const RunOptions& options, uint32_t gpu_processes);

// The library for the environment; "": not requested.
std::string gpu_library(const RunOptions& options, const launch::Installation& installation);

}  // namespace mlrun::commands
