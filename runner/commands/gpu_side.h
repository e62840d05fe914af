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
void settle_gpu_side(RunOptions& options, const session::Installation& installation);

// Fails, with the reason, if GPU work is requested and the library for it is not usable, or if GPU work is required and CUDA
// will load another library. If it is not required, the second case is only reported.
Status check_cupti(const RunOptions& options, const session::Installation& installation);

// Fails if the command must not run: required samples are unavailable, or GPUs are the only stream and cannot be sampled.
Status check_samples(const RunOptions& options);

// Reports if GPU work was requested (not by =auto) and recorded in no process: none started CUDA, or CUPTI could not be used.
// False: it was required as well.
bool say_if_no_gpu_work(const RunOptions& options, uint32_t gpu_processes);

// The library for the environment; "": not requested.
std::string gpu_library(const RunOptions& options, const session::Installation& installation);

}  // namespace mlrun::commands
