// SPDX-License-Identifier: Apache-2.0
// The batches that worker processes sent to the driver, one by one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct Batch {
  int32_t proc_id = 0;  // its worker
  Ns begun_ns = 0;      // the worker had the task and was free
  Ns sent_ns = 0;       // the worker had sent it
  Ns received_ns = 0;   // the driver, or a thread of its process, had read it
  Ns taken_ns = 0;      // the loop got it
  int64_t bytes = 0;
  int32_t pass = 0;  // over the data, where workers stay for several
};

// The batches of a loader until its workers end, in the order in which the loop gets them.
struct Epoch {
  std::vector<Batch> batches;
  std::map<int32_t, std::vector<Ns>> resumed;  // by worker: when it said that it begins another pass
  std::vector<int32_t> workers;                // processes, in the order of their tasks
  int64_t ahead = 0;                           // tasks that were sent before the first batch came
  bool in_order = false;                       // a DataLoader's: the loop gets batches in the order of the tasks
};

// Empty where no worker process sends to the driver over pipes.
std::vector<Epoch> list_batches(const Timeline& timeline, const Division& division, const Chain& chain);

}  // namespace mlrun::blame
