// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/rank_waits.h"

#include "runner/nodes/row_batches.h"

namespace mlrun::nodes {

RankWaits::RankWaits(const std::vector<Connection>& connections) {
  for (const Connection& one : connections) {
    for (const size_t side : {0, 1}) {
      const size_t other = 1 - side;
      others_[{one.node[side], one.end[side].file_id}] = {one.node[other], one.end[other].proc_id};
    }
  }
}

void RankWaits::add_away(size_t number, int64_t file_id, int64_t ns, size_t place) {
  const auto other = others_.find({number, file_id});
  if (other != others_.end()) waits_.push_back({place, other->second.first, other->second.second, ns});
}

void RankWaits::add(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place) {
  for (const summary::WaitedFor& one : answer.waited_for) {
    if (node.rank_of.contains(one.proc_id)) waits_.push_back({place, number, one.proc_id, one.ns});
  }
  for (const summary::AwayWait& one : answer.away) add_away(number, one.file_id, one.ns, place);
}

Status RankWaits::add_stored(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place) {
  add(node, number, answer, place);
  const auto first = others_.lower_bound({number, 0});
  const bool has_connections = first != others_.end() && first->first.first == number;
  if (!has_connections || !tables::has_table(node.folder + "/tables", "blame")) return {};
  const tables::TableQuery query{.columns = {"activity", "state", "file_id", "ns"}};
  return for_each_batch_unless_stopped(node.folder, "blame", query, [&](const arrow::RecordBatch& batch) {
    const tables::Texts activity(batch, "activity"), state(batch, "state");
    const tables::Numbers file_id(batch, "file_id"), ns(batch, "ns");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (activity[i] == "wait" && state[i] == "remote") add_away(number, file_id[i], ns[i], place);
    }
  });
}

bool RankWaits::count(const std::vector<NodeTrace>& nodes, std::vector<RankFigures>& ranks) const {
  std::vector<int64_t> waited(ranks.size());
  bool is_known = false;
  for (const Wait& one : waits_) {
    const auto other = nodes[one.node].rank_of.find(one.proc_id);
    const RankFigures& own = ranks[one.place];
    if (other == nodes[one.node].rank_of.end() || other->second == own.rank) continue;
    waited[one.place] += one.ns;
    is_known = true;
  }
  for (size_t i = 0; is_known && i < ranks.size(); ++i) ranks[i].waited_ns = waited[i];
  return is_known;
}

}  // namespace mlrun::nodes
