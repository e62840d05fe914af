// SPDX-License-Identifier: Apache-2.0
// A call of a communication library (NCCL) that sends or receives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/model/rows.h"

namespace mlrun::model {

struct CollectiveRow {
  Origin origin;
  int64_t dur_ns = 0;               // of the call, which only hands the work over
  std::string operation;            // AllReduce, Send, ...
  std::string communicator;         // hexadecimal; empty: not told
  std::optional<int64_t> sequence;  // from 0 among the process's collectives of its communicator
  int64_t bytes = 0;                // as NCCL counts them: of one rank's message
  std::optional<int64_t> root, peer;
  std::string reduction;               // Sum, ...; a number for an operation of the program's own
  std::optional<int64_t> rank, ranks;  // in the communicator
  bool is_open = false;                // it has not come back
};

}  // namespace mlrun::model
