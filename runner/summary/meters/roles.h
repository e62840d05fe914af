// SPDX-License-Identifier: Apache-2.0
// The role of a process in the training:
//
//   main                the command itself: the first root of the process tree
//   rank N              a launcher gave it that rank (preload/record/process_ranks.h), which its parent lacks, or it set the
//                       launcher's variables itself, as what mp.spawn starts does; a process that only starts ranks has
//                       none, even with another launcher's rank (mpirun in a batch script)
//   DataLoader worker   PyTorch named its thread pt_data_worker
//   loky worker, dask worker, ray worker   by the program it was started as; Dask's made a folder worker-… for itself
//   data worker         a forked child of a Python, or one that multiprocessing spawned, that read files and wrote none
//   resource tracker, fork server   helpers of Python's multiprocessing and of loky
//   elastic agent, dask scheduler, dask nanny, ray …   processes that start and serve such workers
//   child               any other
//
// A forked process has its parent's command line, which says nothing about it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/process_tree.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Activity of a process that determines its role.
struct Deeds {
  Totals files;                       // its calls on files
  std::vector<int64_t> made_folders;  // file_ids of the first ones
};

// Returns the role of each process by proc_id.
[[nodiscard]] std::unordered_map<int32_t, std::string> roles(const model::TraceInfo& info, const ProcessTree& tree,
                                                             const std::function<Deeds(int32_t proc_id)>& deeds_of);

}  // namespace mlrun::summary
