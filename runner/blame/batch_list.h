// SPDX-License-Identifier: Apache-2.0
// The batches that worker processes sent to the driver, one row for each.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct Batch {
  int32_t proc_id = 0;  // the worker that made it
  Ns begun_ns = 0;      // when the worker had the batch's task and was free to begin it
  Ns sent_ns = 0;       // when the worker had written the batch to the pipe
  Ns received_ns = 0;   // when a thread of the driver's process had read the batch
  Ns taken_ns = 0;      // when the training loop got the batch
  int64_t bytes = 0;
  int32_t pass = 0;  // number of the pass over the data, from 0; later ones only if workers are kept for several passes
};

// The batches of a loader until its workers end, in the order in which the loop gets them.
struct Epoch {
  std::vector<Batch> batches;
  std::map<int32_t, std::vector<Ns>> resumed;  // by worker process: when it announced another pass
  std::vector<int32_t> workers;                // worker processes, in the order in which they get tasks
  int64_t ahead = 0;                           // number of tasks that were sent before the first batch arrived
  bool in_order = false;  // the loader is a DataLoader: the loop gets batches in the order of the tasks
};

// Returns an empty list if no worker process sends to the driver over pipes.
std::vector<Epoch> list_batches(const Timeline& timeline, const Division& division, const Chain& chain);

}  // namespace mlrun::blame
