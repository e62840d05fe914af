// SPDX-License-Identifier: Apache-2.0
// What a merged trace has besides the tables of its nodes: the tables node, node_rank, node_bytes and node_skew, and the same in
// run.json as `merged`.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/nodes/alignment.h"
#include "runner/nodes/figures.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

// Everything that the tables and run.json of a merged trace are made from.
struct Merged {
  NodeTraces traces;
  Alignment alignment;
  Figures figures;
  std::vector<std::vector<int64_t>> key_bases;  // by node and KeySpace
};

Status write_node_tables(const Merged& merged, const std::string& trace_folder);

nlohmann::ordered_json merged_json(const Merged& merged);

}  // namespace mlrun::nodes
