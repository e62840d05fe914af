// SPDX-License-Identifier: Apache-2.0
// The traces that are to be merged, with what is wrong with them. A trace that cannot be merged with the others is left out, and the others
// are merged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

struct Rank {
  int32_t proc_id = 0, pid = 0;
  int32_t rank = -1, local_rank = -1, world_size = -1;
  std::string ended;         // as in table `process`
  int64_t wait_status = -1;  // -1: unknown
  int64_t first_ns = 0, last_ns = 0;
  int32_t attempt =
      1;  // of its node: ranks that were started again, by torchrun after a failure or as a second training, have a later one
  int32_t age = 0;  // of the attempt: the same number in all nodes; 0: the last one
};

struct NodeTrace {
  std::string folder;
  std::string name;  // of the host; of the folder where that is not unique, or unknown
  model::Run run;
  int64_t start_ns = 0, end_ns = 0;  // of its clock: the command, else the processes
  int64_t error_ns = 0;              // of the conversion to its clock
  std::vector<Rank> ranks;           // by attempt, then rank
  int32_t attempts = 1;
  std::map<int32_t, int32_t> rank_of;  // of each process that has one: workers of a rank too
  bool lost_events = false;            // what was counted is not all that happened

  // Text that says whose clock it is: traces with the same one need no alignment. Empty: unknown.
  [[nodiscard]] std::string clock_key() const;
  // UTC - its clock; nullopt: unknown, as of an imported trace.
  [[nodiscard]] std::optional<int64_t> utc_offset_ns(bool at_end) const;
  // How far its UTC may be off, by NTP or PTP; nullopt: its clock was not synchronised, or that is unknown.
  [[nodiscard]] std::optional<int64_t> utc_error_ns() const;
};

struct NodeTraces {
  std::vector<NodeTrace> nodes;       // in the order in which they were given
  std::vector<std::string> left_out;  // traces that are not among the nodes, one line each with the reason
  std::vector<std::string> problems;  // of the nodes, one line each
  int32_t compared_age = 0;           // of the attempt whose ranks are compared: the longest
};

// Without "." and a slash at its end.
std::string plain_folder(const std::string& folder);

// `may_be_apart`: of any times, as an offset is given. Fails if nothing remains.
// Requires: folders are plain.
Result<NodeTraces> open_nodes(const std::vector<std::string>& folders, bool may_be_apart);

}  // namespace mlrun::nodes
