// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/node_trace.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/nodes/attempts.h"
#include "runner/nodes/row_batches.h"
#include "runner/parquet/trace_condition.h"
#include "runner/util/units.h"

namespace mlrun::nodes {

namespace {

namespace fs = std::filesystem;

// The job of the trace; empty: unknown. If Slurm itself started the ranks, each step of a job is a separate run.
std::string job_of(const NodeTrace& node) {
  const auto& [id, array_id, array_task, step, nodes, source] = node.run.job;
  if (id.empty() || id == "none") return {};  // torchrun's default
  return source.id + "=" + id + (source.rank == "SLURM_PROCID" ? "." + step : "");
}

Status read_ranks(NodeTrace& node) {
  Status read = for_each_batch_unless_stopped(node.folder, "process", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers proc(batch, "proc_id"), pid(batch, "pid"), rank(batch, "rank"), local(batch, "local_rank"),
        size(batch, "world_size"), status(batch, "wait_status"), first(batch, "first"), last(batch, "last");
    const tables::Texts role(batch, "role"), ended(batch, "ended");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (node.start_ns == 0 || first[i] < node.start_ns) node.start_ns = first[i];
      node.end_ns = std::max(node.end_ns, last[i]);
      if (rank.is_null(i)) continue;
      node.rank_of[static_cast<int32_t>(proc[i])] = static_cast<int32_t>(rank[i]);
      if (!role[i].starts_with("rank ")) continue;
      node.ranks.push_back({static_cast<int32_t>(proc[i]), static_cast<int32_t>(pid[i]), static_cast<int32_t>(rank[i]),
                            local.is_null(i) ? -1 : static_cast<int32_t>(local[i]),
                            size.is_null(i) ? -1 : static_cast<int32_t>(size[i]), std::string(ended[i]),
                            status.is_null(i) ? -1 : status[i], first[i], last[i]});
    }
  });
  if (!read) return read;
  number_attempts(node);
  std::stable_sort(node.ranks.begin(), node.ranks.end(), [](const Rank& a, const Rank& b) {
    return std::pair(a.attempt, a.rank) < std::pair(b.attempt, b.rank);
  });
  return {};
}

Result<NodeTrace> open_node(const std::string& folder) {
  NodeTrace node;
  node.folder = folder;
  std::error_code error;
  if (!fs::exists(folder, error))
    return fail(error ? fmt::format("cannot open {}: {}", folder, error.message()) : folder + " does not exist");
  if (!fs::is_directory(folder, error)) return fail(folder + " is a file; name the folder of a trace");
  if (!fs::exists(fs::path(folder) / "run.json", error)) {
    if (fs::exists(fs::path(folder) / MLRUN_SESSION_FILE, error))
      return fail(folder + " was not finished (mlrun recover " + folder + ")");
    return fail(folder + " holds no trace");
  }
  auto run = model::read_run(folder);
  if (!run) return tl::make_unexpected(run.error());
  node.run = *std::move(run);
  const nlohmann::json& document = *node.run.document;
  if (Status known = tables::check_schema_version(folder, document); !known) return tl::make_unexpected(known.error());
  if (node.run.is_merged) return fail(folder + " is merged already; give the traces that it was made of");
  if (Status whole = tables::check_tables(folder, document); !whole) return tl::make_unexpected(whole.error());
  node.name = node.run.host.name;
  node.error_ns = std::max<int64_t>(0, node.run.clock.error_ns);
  if (Status read = read_ranks(node); !read) return tl::make_unexpected(read.error());
  if (const int64_t start = node.run.start_ns.value_or(0); start != 0) node.start_ns = start;
  if (const int64_t end = node.run.end_ns.value_or(0); end != 0) node.end_ns = end;
  node.lost_events = node.run.total("losses").value_or(0) != 0 || node.run.events_from_ns;
  return node;
}

// The job that most traces have; among equally frequent ones the first.
std::string job_of_most(const std::vector<NodeTrace>& nodes) {
  std::map<std::string, int> jobs;
  std::string most;
  for (const NodeTrace& node : nodes) {
    if (const std::string job = job_of(node); !job.empty()) ++jobs[job];
  }
  for (const NodeTrace& node : nodes) {
    const std::string job = job_of(node);
    if (!job.empty() && (most.empty() || jobs[job] > jobs[most])) most = job;
  }
  return most;
}

// Whether both ran at the same time. Requires: the UTC of both is known.
bool runs_beside(const NodeTrace& a, const NodeTrace& b) {
  const auto of_a = a.utc_offset_ns(false), of_b = b.utc_offset_ns(false);
  constexpr int64_t kSlackNs = 60'000'000'000;  // clocks that are not synchronised
  return a.start_ns + *of_a < b.end_ns + *of_b + kSlackNs && b.start_ns + *of_b < a.end_ns + *of_a + kSlackNs;
}

// The largest group of traces that ran at one time, directly or through others between them; the first of several as large. Traces
// without a known time belong to it.
std::vector<bool> of_one_time(const std::vector<NodeTrace>& nodes) {
  std::vector<size_t> group(nodes.size());  // of each; 0: none yet
  size_t groups = 0, most = 0, largest = 0;
  for (size_t first = 0; first < nodes.size(); ++first) {
    if (group[first] != 0 || !nodes[first].utc_offset_ns(false)) continue;
    std::vector<size_t> members{first};
    group[first] = ++groups;
    for (size_t at = 0; at < members.size(); ++at) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        const bool is_known = nodes[i].utc_offset_ns(false).has_value();
        if (group[i] != 0 || !is_known || !runs_beside(nodes[members[at]], nodes[i])) continue;
        group[i] = groups;
        members.push_back(i);
      }
    }
    if (members.size() > most) most = members.size(), largest = groups;
  }
  std::vector<bool> is_of_it;
  for (const size_t one : group) is_of_it.push_back(one == largest || one == 0);
  return is_of_it;
}

// How many ranks its last attempt has in all; -1: unknown.
int32_t world_size_of(const NodeTrace& node) { return node.ranks.empty() ? -1 : node.ranks.back().world_size; }

class Sorter {
 public:
  Sorter(std::vector<NodeTrace> all, bool may_be_apart) : all_(std::move(all)), may_be_apart_(may_be_apart) {}

  // Each step sees only the traces that the step before has kept: the times of another job's traces must not decide when the run was.
  void sort(NodeTraces& to) {
    const std::string job = job_of_most(all_);
    keep(to.left_out, [&](const NodeTrace& node, const auto& before) { return why_not_once(node, before, job); });
    if (!may_be_apart_) keep_one_time(to.left_out);
    match_attempts(all_);
    keep(to.left_out, [this](const NodeTrace& node, const auto& before) { return why_not_beside(node, before); });
    to.nodes = std::move(all_);
  }

 private:
  // Asks why_not(trace, traces kept before it) for each trace. Empty: the trace is kept; else it is left out for this reason.
  template <typename WhyNot>
  void keep(std::vector<std::string>& left_out, WhyNot why_not) {
    std::vector<NodeTrace> kept;
    for (NodeTrace& node : all_) {
      if (const std::string why = why_not(node, kept); !why.empty()) {
        left_out.push_back(fmt::format("{} is left out: {}", node.folder, why));
        continue;
      }
      kept.push_back(std::move(node));
    }
    all_ = std::move(kept);
  }

  static std::string why_not_once(const NodeTrace& node, const std::vector<NodeTrace>& before,
                                  const std::string& job_of_all) {
    const std::string& session = node.run.session;
    for (const NodeTrace& other : before) {
      std::error_code ignored;
      const bool is_same_folder = fs::equivalent(node.folder, other.folder, ignored);
      if (is_same_folder || (!session.empty() && session == other.run.session))
        return "it is the same trace as " + other.folder;
    }
    const std::string job = job_of(node);
    if (job.empty() || job == job_of_all) return {};
    return fmt::format("it is of another run ({}; the other traces: {})", job, job_of_all);
  }

  // Runs on two days may have the same job name, so the time decides too.
  void keep_one_time(std::vector<std::string>& left_out) {
    const std::vector<bool> is_of_it = of_one_time(all_);
    std::vector<NodeTrace> kept;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (is_of_it[i]) kept.push_back(std::move(all_[i]));
    }
    for (size_t i = 0; i < all_.size(); ++i) {
      if (is_of_it[i]) continue;
      left_out.push_back(fmt::format("{} is left out: it did not run at the time of {}, so they are of two runs",
                                     all_[i].folder, kept.front().folder));
    }
    all_ = std::move(kept);
  }

  std::string why_not_beside(const NodeTrace& node, const std::vector<NodeTrace>& before) {
    const bool has_job = !job_of(node).empty();
    for (const NodeTrace& other : before) {
      const int32_t ranks = world_size_of(node), of_other = world_size_of(other);
      if (ranks < 0 || of_other < 0 || ranks == of_other || (has_job && !job_of(other).empty())) continue;
      return fmt::format("its run has {} ranks, that of {} has {}", ranks, other.folder, of_other);
    }
    for (const Rank& rank : node.ranks) {
      if (const auto same = ranks_.find({rank.rank, rank.age}); same != ranks_.end())
        return fmt::format("rank {} is in {} too, so they are of two runs", rank.rank, same->second);
    }
    for (const Rank& rank : node.ranks) ranks_.emplace(std::pair(rank.rank, rank.age), node.folder);
    return {};
  }

  std::vector<NodeTrace> all_;
  bool may_be_apart_;
  std::map<std::pair<int32_t, int32_t>, std::string> ranks_;  // folder by rank and age
};

// Names nodes by the host, else by the last part of the folder, else by the whole path.
void name_nodes(std::vector<NodeTrace>& nodes) {
  const auto rename = [&](auto name) {
    std::map<std::string, int> uses;
    for (const NodeTrace& node : nodes) ++uses[node.name];
    for (NodeTrace& node : nodes) {
      if (node.name.empty() || uses[node.name] > 1) node.name = name(node);
    }
  };
  rename([](const NodeTrace& node) { return fs::path(node.folder).filename().string(); });
  rename([](const NodeTrace& node) { return node.folder; });
}

void find_missing(NodeTraces& traces) {
  std::set<int32_t> ranks;
  int64_t world = 0, nodes = 0;
  for (const NodeTrace& node : traces.nodes) {
    nodes = std::max(nodes, node.run.job.nodes);
    for (const Rank& rank : node.ranks) {
      if (rank.age != 0) continue;  // an elastic run may have had more ranks before
      ranks.insert(rank.rank);
      world = std::max<int64_t>(world, rank.world_size);
    }
  }
  std::vector<int64_t> missing;
  for (int64_t rank = 0; !ranks.empty() && rank < world; ++rank) {
    if (!ranks.contains(static_cast<int32_t>(rank))) missing.push_back(rank);
  }
  constexpr size_t kNamed = 8;
  if (!missing.empty()) {
    const auto shown = std::vector(missing.begin(), missing.begin() + std::min(kNamed, missing.size()));
    traces.problems.push_back(fmt::format("{} of {} ranks are in no trace: {}{}", missing.size(), world,
                                          fmt::join(shown, ", "), missing.size() > kNamed ? ", ..." : ""));
  }
  if (const auto there = static_cast<int64_t>(traces.nodes.size()); missing.empty() && there < nodes)
    traces.problems.push_back(
        fmt::format("{} of the job's {} nodes have no trace among those given", nodes - there, nodes));
}

// How a rank was killed, as text. Empty: it is not known to have been killed.
std::string how_killed(const Rank& rank) {
  if (rank.wait_status > 0 && WIFSIGNALED(rank.wait_status)) {
    const int number = WTERMSIG(rank.wait_status);
    return fmt::format("was ended by signal {} ({})", number, ::strsignal(number));
  }
  return rank.ended == "no record" ? "ended without a record of its end" : "";
}

// In an attempt that was followed by another one, only the first rank to end was killed: the launcher ended the others.
void find_killed(NodeTraces& traces) {
  for (const NodeTrace& node : traces.nodes) {
    const auto time_of = [&](const Rank& rank) {
      return util::time_text(rank.last_ns - node.start_ns, util::Glyphs{false});
    };
    std::map<int32_t, std::pair<const Rank*, int64_t>>
        first;  // by attempt: the rank that ended first, and how many were killed
    for (const Rank& rank : node.ranks) {
      const std::string how = how_killed(rank);
      if (how.empty()) continue;
      if (rank.attempt == node.attempts) {
        traces.problems.push_back(
            fmt::format("rank {} on {} {} after {}; its rows end there", rank.rank, node.name, how, time_of(rank)));
        continue;
      }
      auto& [who, count] = first[rank.attempt];
      if (who == nullptr || rank.last_ns < who->last_ns) who = &rank;
      ++count;
    }
    for (const auto& [attempt, killed] : first) {
      const auto& [who, count] = killed;
      std::string line = fmt::format("rank {} on {} {} after {}, and was started again", who->rank, node.name,
                                     how_killed(*who), time_of(*who));
      if (count > 1) line += fmt::format("; so were {} more ranks that ended with it", count - 1);
      traces.problems.push_back(std::move(line));
    }
  }
}

void compare_versions(NodeTraces& traces) {
  const std::string& first = traces.nodes.front().run.mlrun_version;
  for (const NodeTrace& node : traces.nodes) {
    const std::string& version = node.run.mlrun_version;
    if (version == first || version.empty()) continue;
    traces.problems.push_back(
        fmt::format("{} was recorded by mlrun {}, {} by {}: columns that one version lacks are null", node.name,
                    version, traces.nodes.front().name, first));
  }
}

}  // namespace

std::string NodeTrace::clock_key() const {
  return run.host.boot_id.empty() ? "" : run.host.boot_id + " " + run.host.time_namespace;
}

std::optional<int64_t> NodeTrace::utc_offset_ns(bool at_end) const {
  return at_end ? run.clock.realtime_offset_end_ns : run.clock.realtime_offset_start_ns;
}

std::optional<int64_t> NodeTrace::utc_error_ns() const {
  int64_t most = 0;
  for (const model::ClockReading* reading : {&run.clock.start, &run.clock.end}) {
    if (!reading->discipline.is_synchronised) return std::nullopt;
    most = std::max(most, reading->discipline.max_error_ns);
  }
  return most;
}

std::string plain_folder(const std::string& folder) {
  std::string plain = fs::path(folder).lexically_normal().string();
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

Result<NodeTraces> open_nodes(const std::vector<std::string>& folders, bool may_be_apart) {
  NodeTraces traces;
  std::vector<NodeTrace> opened;
  for (const std::string& folder : folders) {
    auto node = open_node(folder);
    if (node) {
      opened.push_back(*std::move(node));
    } else {
      traces.left_out.push_back("left out: " + node.error().text);
    }
  }
  Sorter(std::move(opened), may_be_apart).sort(traces);
  if (traces.nodes.empty()) return fail(fmt::format("nothing to merge: {}", fmt::join(traces.left_out, "; ")));
  name_nodes(traces.nodes);
  compare_versions(traces);
  find_missing(traces);
  find_killed(traces);
  choose_attempt(traces);
  return traces;
}

}  // namespace mlrun::nodes
