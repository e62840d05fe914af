// SPDX-License-Identifier: Apache-2.0
// What a process is to the training:
//
//   main                the command itself: the first root of the process tree
//   rank N              RANK=N in its environment, and not in its parent's: one of torchrun's, mpirun's or srun's
//   DataLoader worker   PyTorch named its thread pt_data_worker
//   data worker         a forked child of a Python, or one that multiprocessing spawned, that read files and wrote none
//   resource tracker, fork server   helpers of Python's multiprocessing
//   child               any other
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "runner/model/trace_info.h"
#include "runner/summary/process_tree.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// By proc_id. files_of gives a process's calls on files.
[[nodiscard]] std::unordered_map<int32_t, std::string> roles(const model::TraceInfo& info, const ProcessTree& tree,
                                                             const std::function<Totals(int32_t proc_id)>& files_of);

}  // namespace mlrun::summary
