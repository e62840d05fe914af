// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/figures.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runner/findings/answer.h"
#include "runner/nodes/rank_waits.h"
#include "runner/nodes/row_batches.h"
#include "runner/nodes/skew.h"
#include "runner/nodes/table_file.h"
#include "runner/summary/tables/tables.h"
#include "runner/util/median.h"
#include "runner/util/units.h"

namespace mlrun::nodes {

namespace {

using Cell = std::pair<summary::Activity, summary::State>;

// Whether time in this cell counts as waiting for other ranks. If waits for ranks are known (`knows_waits`): only waits that another machine
// ends. Else all waits that no thread of the node ends, which in a training of several ranks are mostly for another rank.
bool waits_for_others(const Cell& cell, bool knows_waits) {
  if (knows_waits) return cell == Cell{summary::Activity::kWait, summary::State::kRemote};
  const bool may_be = cell.first == summary::Activity::kCompute || cell.first == summary::Activity::kWait;
  return may_be && (cell.second == summary::State::kBlocked || cell.second == summary::State::kUnknown);
}

void take_answer(const summary::Answer& answer, RankFigures& rank) {
  rank.wall_ns = answer.wall_ns;
  rank.startup_ns = answer.startup_ns;
  rank.without_batch_ns = answer.without_batch_ns;
  rank.time = answer.time;
  for (const summary::TimeShare& share : answer.time) {
    if (share.activity == summary::Activity::kCompute) rank.compute_ns += share.ns;
    if (waits_for_others({share.activity, share.state}, false)) rank.waited_ns += share.ns;
  }
  if (answer.findings.empty()) return;
  rank.cause = answer.findings.front().cause;
  rank.claim = answer.findings.front().claim;
}

// The answer stored in a trace is for its driver, the lowest rank; the time of the node's other ranks is divided here. If ranks were restarted,
// each rank's time is that of its process: with the time of the run, earlier attempts would count as start-up.
Status add_ranks(const NodeTrace& node, size_t number, std::vector<RankFigures>& ranks, RankWaits& waits,
                 std::vector<std::string>& problems) {
  const auto stored = summary::read_tables(node.folder);
  const bool has_calls = tables::has_table(node.folder + "/tables", "call");
  if (node.ranks.empty()) {
    RankFigures& one = ranks.emplace_back();
    one.node = number;
    if (stored) take_answer(stored->answer, one);
    return {};
  }
  for (const Rank& rank : node.ranks) {
    RankFigures& one = ranks.emplace_back();
    one.node = number;
    one.rank = rank.rank;
    one.local_rank = rank.local_rank;
    one.proc_id = rank.proc_id;
    one.attempt = rank.attempt;
    one.age = rank.age;
    if (stored && stored->answer.driver_pid == rank.pid && node.attempts == 1) {
      take_answer(stored->answer, one);
      if (Status added = waits.add_stored(node, number, stored->answer, ranks.size() - 1); !added) return added;
    } else if (has_calls) {
      summary::Answer answer;
      findings::AnswerOptions options{rank.pid, false};
      if (node.attempts > 1) options.start_ns = rank.first_ns, options.end_ns = rank.last_ns;
      if (Status answered = findings::answer(node.folder, node.run, options, answer); !answered) {
        if (is_about_trace(answered.error(), node.folder)) return answered;
        problems.push_back(
            fmt::format("rank {} on {} has no figures: {}", rank.rank, node.name, answered.error().text));
        continue;
      }
      take_answer(answer, one);
      waits.add(node, number, answer, ranks.size() - 1);
    }
  }
  return {};
}

Status add_bytes(const NodeTrace& node, size_t number, std::vector<BytesFigures>& bytes) {
  if (!tables::has_table(node.folder + "/tables", "summary_file")) return {};
  std::map<std::string, BytesFigures> by_system;
  Status added = for_each_batch_unless_stopped(node.folder, "summary_file", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers read(batch, "bytes_read"), written(batch, "bytes_written"), time(batch, "time_ns");
    const tables::Texts system(batch, "file_system");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      BytesFigures& sum = by_system[std::string(system[i])];
      ++sum.files;
      sum.bytes_read += read[i];
      sum.bytes_written += written[i];
      sum.time_ns += time[i];
    }
  });
  if (!added) return added;
  for (auto& [system, sum] : by_system) {
    if (sum.bytes_read + sum.bytes_written == 0) continue;
    sum.node = number;
    sum.file_system = system;
    bytes.push_back(sum);
  }
  return {};
}

// The activity and state in which the rank's time most exceeds the median of the other ranks. Waiting for other ranks is no reason.
std::string reason_of(const RankFigures& slow, const std::vector<const RankFigures*>& ranks, bool knows_waits) {
  std::map<Cell, std::vector<int64_t>> others;
  std::map<Cell, int64_t> own;
  for (const RankFigures* rank : ranks) {
    for (const summary::TimeShare& share : rank->time) {
      const Cell cell{share.activity, share.state};
      if (rank == &slow) {
        own[cell] = share.ns;
      } else {
        others[cell].push_back(share.ns);
      }
    }
  }
  Cell most_cell{};
  int64_t most = 0;
  for (const auto& [cell, ns] : own) {
    if (waits_for_others(cell, knows_waits) || cell.first == summary::Activity::kEnd) continue;
    std::vector<int64_t>& of_others = others[cell];
    of_others.resize(ranks.size() - 1);  // 0 where a rank has none
    const int64_t excess = ns - util::upper_median(of_others);
    if (excess > most) most = excess, most_cell = cell;
  }
  constexpr int64_t kShareDivisor = 50;  // 2 % of its time
  if (most < slow.wall_ns / kShareDivisor || most == 0) return {};
  std::string why = fmt::format("{} more than the others in {} ({})", util::time_text(most, util::Glyphs{false}),
                                summary::kActivityNames[static_cast<size_t>(most_cell.first)],
                                summary::kStateNames[static_cast<size_t>(most_cell.second)]);
  if (!slow.claim.empty()) why += "; its first finding: " + slow.claim;
  return why;
}

// Finds the slowest rank of one attempt: by collectives or marks, or without these the rank that waits least, since the others
// wait for it.
void find_slowest(Figures& figures, int32_t age, bool knows_waits) {
  std::vector<const RankFigures*> ranks;
  for (const RankFigures& one : figures.ranks) {
    if (one.wall_ns > 0 && one.rank >= 0 && one.age == age) ranks.push_back(&one);
  }
  if (ranks.size() < 2) return;
  int64_t compared = 0, last_times = 0;
  bool by_marks = false;
  for (const SkewFigures& skew : figures.skews) {
    if (skew.age != age) continue;
    by_marks = compared == 0 ? skew.operation == "mark" : by_marks;
    compared += skew.compared;
  }
  for (const RankFigures* one : ranks) last_times += one->last_times;
  const RankFigures* slow = nullptr;
  SlowestRank& slowest = figures.slowest;
  if (last_times > 0) {
    slow = *std::max_element(ranks.begin(), ranks.end(), [](const auto* a, const auto* b) {
      return std::pair(a->last_times, a->late_ns) < std::pair(b->last_times, b->late_ns);
    });
    slowest.known_by = by_marks ? "marks" : "collectives";
    slowest.why = fmt::format("it began last in {} of {}", slow->last_times, compared);
  } else {
    const auto [least, most] = std::minmax_element(
        ranks.begin(), ranks.end(), [](const auto* a, const auto* b) { return a->waited_ns < b->waited_ns; });
    slow = *least;
    constexpr int64_t kShareDivisor = 20;  // 5 % of its time
    if ((*most)->waited_ns - slow->waited_ns < (slow->wall_ns - slow->startup_ns) / kShareDivisor) return;
    slowest.known_by = knows_waits ? "messages" : "waiting";
    slowest.why = fmt::format("it waited {} for other ranks, the others waited up to {}",
                              util::time_text(slow->waited_ns, util::Glyphs{false}),
                              util::time_text((*most)->waited_ns, util::Glyphs{false}));
  }
  slowest.rank = slow->rank;
  slowest.node = slow->node;
  if (const std::string reason = reason_of(*slow, ranks, knows_waits); !reason.empty())
    slowest.why += ", and was " + reason;
}

}  // namespace

Result<Figures> figures_of(NodeTraces& traces, const Alignment& alignment) {
  const std::vector<NodeTrace>& nodes = traces.nodes;
  Figures figures;
  RankWaits waits(alignment.connections);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (Status added = add_ranks(nodes[i], i, figures.ranks, waits, traces.problems); !added)
      return tl::make_unexpected(added.error());
    if (Status added = add_bytes(nodes[i], i, figures.bytes); !added) return tl::make_unexpected(added.error());
  }
  figures.skews = skews_of(alignment, figures.ranks);
  const bool knows_waits = waits.count(nodes, figures.ranks);
  find_slowest(figures, traces.compared_age, knows_waits);
  return figures;
}

}  // namespace mlrun::nodes
