// SPDX-License-Identifier: Apache-2.0
// The traces that are to be merged, and lines about their problems. A trace that cannot be merged with the others is left out, and the others
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
      1;  // number of the start on its node, from 1; torchrun after a failure, or a second training, starts ranks again
  int32_t age = 0;  // attempts after this one, the same in all nodes; 0: this is the last one
};

struct NodeTrace {
  std::string folder;
  std::string name;  // of the host; of the folder if the host is unknown or not unique
  model::Run run;
  int64_t start_ns = 0, end_ns = 0;  // of the command, else of the processes; on its clock
  int64_t error_ns = 0;              // of the conversion of times to its clock
  std::vector<Rank> ranks;           // by attempt, then rank
  int32_t attempts = 1;
  std::map<int32_t, int32_t> rank_of;  // rank by proc_id, also of a rank's worker processes
  bool lost_events = false;            // the trace lacks events, so nothing can be numbered by counting

  // Identifies the clock: traces with the same key need no alignment. Empty: unknown.
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
  int32_t compared_age = 0;           // Rank::age of the attempt whose ranks are compared, which ran longest
};

// The path without "." and without a slash at its end.
std::string plain_folder(const std::string& folder);

// `may_be_apart`: the traces need not be of one time, as --offset is given. Fails if no trace remains.
// Requires: folders are plain.
Result<NodeTraces> open_nodes(const std::vector<std::string>& folders, bool may_be_apart);

}  // namespace mlrun::nodes
