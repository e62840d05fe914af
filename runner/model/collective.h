// SPDX-License-Identifier: Apache-2.0
// A call of a communication library (NCCL) that sends or receives data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/model/rows.h"

namespace mlrun::model {

struct CollectiveRow {
  Origin origin;
  int64_t dur_ns = 0;               // duration of the call, which only enqueues the work
  std::string operation;            // AllReduce, Send, ...
  std::string communicator;         // hexadecimal; empty: unknown
  std::optional<int64_t> sequence;  // counts from 0 among the process's collectives of this communicator
  int64_t bytes = 0;                // as NCCL counts: the message of one rank
  std::optional<int64_t> root, peer;
  std::string reduction;               // Sum, ...; a number for a user-defined operation
  std::optional<int64_t> rank, ranks;  // the process's rank and the number of ranks in the communicator
  bool is_open = false;                // the call has not returned
};

}  // namespace mlrun::model
