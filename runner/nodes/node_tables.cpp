// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/node_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/nodes/column_kinds.h"
#include "runner/parquet/row_columns.h"

namespace mlrun::nodes {

namespace {

using nlohmann::ordered_json;
constexpr int64_t kUnknown = INT64_MIN;

struct NodeRow {
  int32_t node_id = 0;
  std::string name, trace, session, job, by, through;
  int64_t start_ns = 0, end_ns = 0;      // on the merged clock
  int64_t offset_ns = 0, error_ns = -1;  // at the node's start; the largest of the run
  int64_t utc_ahead_ns = kUnknown;
  int64_t drift_ppb = 0, widened_ns = 0, messages = 0, collectives = 0, marks = 0;
};

struct RankRow {
  RankFigures figures;
  int32_t proc_id = 0;
};

std::string job_text(const NodeTrace& node) {
  const model::RunJob& job = node.run.job;
  return job.array_id.empty() ? job.id : job.array_id + "_" + job.array_task;
}

NodeRow row_of(const Merged& merged, size_t i) {
  const NodeTrace &node = merged.traces.nodes[i], &first = merged.traces.nodes.front();
  const NodeClock& clock = merged.alignment.clocks[i];
  NodeRow row;
  row.node_id = static_cast<int32_t>(i) + 1;
  row.name = node.name;
  row.trace = node.folder;
  row.session = node.run.session;
  row.job = job_text(node);
  row.by = kAlignedByNames[static_cast<size_t>(clock.by)];
  row.through = clock.through;
  row.start_ns = clock.line.ours(node.start_ns);
  row.end_ns = clock.line.ours(node.end_ns);
  row.offset_ns = clock.line.offset_ns(node.start_ns);
  const auto utc = node.utc_offset_ns(false), of_first = first.utc_offset_ns(false);
  if (utc && of_first) row.utc_ahead_ns = row.offset_ns + *utc - *of_first;
  row.error_ns = std::max(clock.error_ns(node.start_ns), clock.error_ns(node.end_ns));
  row.drift_ppb = std::llround(clock.line.drift() * 1e9);
  row.widened_ns = clock.line.widened_ns();
  row.messages = static_cast<int64_t>(clock.messages);
  row.collectives = static_cast<int64_t>(clock.collectives);
  row.marks = static_cast<int64_t>(clock.marks);
  return row;
}

std::vector<NodeRow> node_rows(const Merged& merged) {
  std::vector<NodeRow> rows;
  for (size_t i = 0; i < merged.traces.nodes.size(); ++i) rows.push_back(row_of(merged, i));
  return rows;
}

int32_t merged_proc_id(const Merged& merged, const RankFigures& rank) {
  const int64_t base = merged.key_bases[rank.node][static_cast<size_t>(KeySpace::kProcess)];
  return rank.proc_id == 0 ? 0 : static_cast<int32_t>(rank.proc_id + base);
}

}  // namespace

struct NodeColumns {
  static constexpr const char* kTable = "node";
  static void visit(auto& visitor, const NodeRow& row) {
    visitor("node_id", row.node_id);
    visitor("name", row.name);
    visitor("trace", row.trace);
    visitor.optional("session", row.session);
    visitor.optional("job", row.job);
    visitor("start", row.start_ns);
    visitor("end", row.end_ns);
    visitor("offset_ns", row.offset_ns);
    visitor.optional("utc_ahead_ns", row.utc_ahead_ns, kUnknown);
    visitor("drift_ppb", row.drift_ppb);
    visitor.optional("error_ns", row.error_ns, kUnknownError);
    visitor("widened_ns", row.widened_ns);
    visitor("aligned_by", row.by);
    visitor.optional("through", row.through);
    visitor("messages", row.messages);
    visitor("collectives", row.collectives);
    visitor("marks", row.marks);
  }
};

struct RankColumns {
  static constexpr const char* kTable = "node_rank";
  static void visit(auto& visitor, const RankRow& row) {
    const RankFigures& rank = row.figures;
    const bool is_known = rank.wall_ns > 0;
    visitor("node_id", static_cast<int32_t>(rank.node) + 1);
    visitor.optional("rank", rank.rank, -1);
    visitor.optional("local_rank", rank.local_rank, -1);
    visitor.optional("proc_id", row.proc_id, 0);
    visitor.optional("wall_ns", rank.wall_ns, 0);
    visitor.optional("startup_ns", tables::value_if(is_known, rank.startup_ns));
    visitor.optional("without_batch_ns", rank.without_batch_ns, -1);
    visitor.optional("compute_ns", tables::value_if(is_known, rank.compute_ns));
    visitor.optional("waited_ns", tables::value_if(is_known, rank.waited_ns));
    visitor("last_times", rank.last_times);
    visitor("late_ns", rank.late_ns);
    visitor.optional("cause", rank.cause);
    visitor.optional("claim", rank.claim);
    visitor("attempt", rank.attempt);
  }
};

struct BytesColumns {
  static constexpr const char* kTable = "node_bytes";
  static void visit(auto& visitor, const BytesFigures& row) {
    visitor("node_id", static_cast<int32_t>(row.node) + 1);
    visitor.optional("file_system", row.file_system);
    visitor("files", row.files);
    visitor("bytes_read", row.bytes_read);
    visitor("bytes_written", row.bytes_written);
    visitor("time_ns", row.time_ns);
  }
};

struct SkewColumns {
  static constexpr const char* kTable = "node_skew";
  static void visit(auto& visitor, const SkewFigures& row) {
    visitor("communicator", row.communicator);
    visitor("operation", row.operation);
    visitor("compared", row.compared);
    visitor("skew_p50_ns", row.p50_ns);
    visitor("skew_p99_ns", row.p99_ns);
    visitor("skew_max_ns", row.max_ns);
    visitor.optional("error_ns", row.error_ns, kUnknownError);
    visitor.optional("last_rank", row.last_rank, -1);
    visitor("last_times", row.last_times);
  }
};

Status write_node_tables(const Merged& merged, const std::string& trace_folder) {
  std::vector<RankRow> ranks;
  for (const RankFigures& rank : merged.figures.ranks) ranks.push_back({rank, merged_proc_id(merged, rank)});
  if (Status written = tables::write_rows<NodeColumns>(node_rows(merged), trace_folder); !written) return written;
  if (Status written = tables::write_rows<RankColumns>(ranks, trace_folder); !written) return written;
  if (Status written = tables::write_rows<BytesColumns>(merged.figures.bytes, trace_folder); !written) return written;
  return tables::write_rows<SkewColumns>(merged.figures.skews, trace_folder);
}

namespace {

ordered_json known(int64_t value, int64_t unknown) { return value == unknown ? ordered_json() : ordered_json(value); }
ordered_json known(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

ordered_json node_json(const NodeRow& row) {
  return {{"node_id", row.node_id},
          {"name", row.name},
          {"trace", row.trace},
          {"session", known(row.session)},
          {"job", known(row.job)},
          {"start_ns", row.start_ns},
          {"end_ns", row.end_ns},
          {"offset_ns", row.offset_ns},
          {"utc_ahead_ns", known(row.utc_ahead_ns, kUnknown)},
          {"drift_ppb", row.drift_ppb},
          {"error_ns", known(row.error_ns, kUnknownError)},
          {"widened_ns", row.widened_ns},
          {"aligned_by", row.by},
          {"through", known(row.through)},
          {"messages", row.messages},
          {"collectives", row.collectives},
          {"marks", row.marks}};
}

ordered_json rank_json(const RankFigures& rank, int32_t proc_id) {
  const bool is_known = rank.wall_ns > 0;
  const auto if_known = [&](int64_t value) { return is_known ? ordered_json(value) : ordered_json(); };
  return {{"node_id", rank.node + 1},
          {"rank", known(rank.rank, -1)},
          {"local_rank", known(rank.local_rank, -1)},
          {"proc_id", known(proc_id, 0)},
          {"wall_ns", if_known(rank.wall_ns)},
          {"startup_ns", if_known(rank.startup_ns)},
          {"without_batch_ns", known(rank.without_batch_ns, -1)},
          {"compute_ns", if_known(rank.compute_ns)},
          {"waited_ns", if_known(rank.waited_ns)},
          {"last_times", rank.last_times},
          {"late_ns", rank.late_ns},
          {"cause", known(rank.cause)},
          {"claim", known(rank.claim)},
          {"attempt", rank.attempt}};
}

}  // namespace

ordered_json merged_json(const Merged& merged) {
  ordered_json nodes = ordered_json::array(), ranks = nodes, bytes = nodes, skews = nodes;
  for (const NodeRow& row : node_rows(merged)) nodes.push_back(node_json(row));
  for (const RankFigures& rank : merged.figures.ranks) ranks.push_back(rank_json(rank, merged_proc_id(merged, rank)));
  for (const BytesFigures& one : merged.figures.bytes) {
    bytes.push_back({{"node_id", one.node + 1},
                     {"file_system", known(one.file_system)},
                     {"files", one.files},
                     {"bytes_read", one.bytes_read},
                     {"bytes_written", one.bytes_written},
                     {"time_ns", one.time_ns}});
  }
  for (const SkewFigures& skew : merged.figures.skews) {
    skews.push_back({{"communicator", skew.communicator},
                     {"operation", skew.operation},
                     {"compared", skew.compared},
                     {"skew_p50_ns", skew.p50_ns},
                     {"skew_p99_ns", skew.p99_ns},
                     {"skew_max_ns", skew.max_ns},
                     {"error_ns", known(skew.error_ns, kUnknownError)},
                     {"last_rank", known(skew.last_rank, -1)},
                     {"last_times", skew.last_times}});
  }
  std::vector<std::string> problems = merged.traces.left_out;
  problems.insert(problems.end(), merged.traces.problems.begin(), merged.traces.problems.end());
  const SlowestRank& slowest = merged.figures.slowest;
  ordered_json slow;
  if (slowest.rank >= 0) {
    slow = {
        {"rank", slowest.rank}, {"node_id", slowest.node + 1}, {"known_by", slowest.known_by}, {"why", slowest.why}};
  }
  return {{"nodes", nodes}, {"ranks", ranks}, {"slowest_rank", slow},
          {"skews", skews}, {"bytes", bytes}, {"problems", problems}};
}

}  // namespace mlrun::nodes
