// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/node_trace.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include <arrow/api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/events/session.h"
#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/units.h"

namespace mlrun::nodes {

namespace {

namespace fs = std::filesystem;
using util::integer_at;
using util::text_at;

// The job that the trace is of; empty: unknown. Steps of one job are runs of their own where Slurm itself started the ranks.
std::string job_of(const NodeTrace& node) {
  const std::string id = text_at(node.run, "/job/id");
  if (id.empty() || id == "none") return {};  // torchrun's default
  std::string job = text_at(node.run, "/job/source/id") + "=" + id;
  if (text_at(node.run, "/job/source/rank") == "SLURM_PROCID") job += "." + text_at(node.run, "/job/step");
  return job;
}

Status read_ranks(NodeTrace& node) {
  auto reader = trace::TableReader::open(node.folder, "process");
  if (!reader) return tl::make_unexpected(reader.error());
  for (;;) {
    auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) break;
    const trace::Numbers proc(**batch, "proc_id"), pid(**batch, "pid"), rank(**batch, "rank"),
        local(**batch, "local_rank"), size(**batch, "world_size"), status(**batch, "wait_status"),
        first(**batch, "first"), last(**batch, "last");
    const trace::Texts role(**batch, "role"), ended(**batch, "ended");
    for (int64_t i = 0; i < (*batch)->num_rows(); ++i) {
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
  }
  std::stable_sort(node.ranks.begin(), node.ranks.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
  return {};
}

Result<NodeTrace> open_node(const std::string& folder) {
  NodeTrace node;
  node.folder = fs::path(folder).lexically_normal().string();
  while (node.folder.size() > 1 && node.folder.back() == '/') node.folder.pop_back();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return fail(folder + " does not exist");
  if (!fs::exists(fs::path(folder) / "run.json", error)) {
    if (fs::exists(fs::path(folder) / MLRUN_SESSION_FILE, error))
      return fail(folder + " was not finished (mlrun recover " + folder + ")");
    return fail(folder + " holds no trace");
  }
  const auto text = util::read_file((fs::path(folder) / "run.json").string());
  if (!text) return tl::make_unexpected(text.error());
  node.run = nlohmann::json::parse(*text, nullptr, false);
  if (!node.run.is_object()) return trace::damaged(folder, "run.json holds no JSON object");
  if (Status known = trace::check_schema_version(folder, node.run); !known) return tl::make_unexpected(known.error());
  if (node.run.contains("merged")) return fail(folder + " is merged already; give the traces that it was made of");
  if (Status whole = trace::check_tables(folder, node.run); !whole) return tl::make_unexpected(whole.error());
  node.name = text_at(node.run, "/host/name");
  node.error_ns = std::max<int64_t>(0, integer_at(node.run, "/clock/error_ns"));
  if (Status read = read_ranks(node); !read) return tl::make_unexpected(read.error());
  if (const int64_t start = integer_at(node.run, "/start_ns"); start != 0) node.start_ns = start;
  if (const int64_t end = integer_at(node.run, "/end_ns"); end != 0) node.end_ns = end;
  node.lost_events = integer_at(node.run, "/totals/losses") != 0 || node.run.contains("events_from_ns");
  return node;
}

// The job of most traces, of the first where several have as many.
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

bool runs_beside(const NodeTrace& a, const NodeTrace& b) {
  const auto of_a = a.utc_offset_ns(false), of_b = b.utc_offset_ns(false);
  if (!of_a || !of_b) return true;
  constexpr int64_t kSlackNs = 60'000'000'000;  // clocks that are not synchronised
  return a.start_ns + *of_a < b.end_ns + *of_b + kSlackNs && b.start_ns + *of_b < a.end_ns + *of_a + kSlackNs;
}

class Sorter {
 public:
  Sorter(std::vector<NodeTrace> all, bool may_be_apart)
      : job_(job_of_most(all)), all_(std::move(all)), may_be_apart_(may_be_apart) {}

  void sort(NodeTraces& to) {
    for (NodeTrace& node : all_) {
      if (const std::string why = why_not(node, to.nodes); !why.empty()) {
        to.problems.push_back(fmt::format("{} is left out: {}", node.folder, why));
        continue;
      }
      for (const Rank& rank : node.ranks) ranks_.emplace(rank.rank, node.folder);
      to.nodes.push_back(std::move(node));
    }
  }

 private:
  std::string why_not(const NodeTrace& node, const std::vector<NodeTrace>& before) {
    const std::string session = text_at(node.run, "/session");
    for (const NodeTrace& other : before) {
      std::error_code ignored;
      const bool is_same_folder = fs::equivalent(node.folder, other.folder, ignored);
      if (is_same_folder || (!session.empty() && session == text_at(other.run, "/session")))
        return "it is the same trace as " + other.folder;
    }
    const std::string job = job_of(node);
    if (!job.empty() && job != job_) return fmt::format("it is of another run ({}; the others: {})", job, job_);
    for (const Rank& rank : node.ranks) {
      if (const auto same = ranks_.find(rank.rank); same != ranks_.end())
        return fmt::format("rank {} is in {} too, so they are of two runs", rank.rank, same->second);
    }
    if (job.empty() && !before.empty() && !may_be_apart_ && !runs_beside(before.front(), node))
      return fmt::format("it did not run at the time of {}, so they are of two runs", before.front().folder);
    return {};
  }

  std::string job_;
  std::vector<NodeTrace> all_;
  bool may_be_apart_;
  std::map<int32_t, std::string> ranks_;
};

// By the host, else by the last part of the folder, else by all of it.
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
    nodes = std::max(nodes, integer_at(node.run, "/job/nodes"));
    for (const Rank& rank : node.ranks) {
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
    traces.problems.push_back(fmt::format("{} of the job's {} nodes have no trace here", nodes - there, nodes));
}

void find_killed(NodeTraces& traces) {
  for (const NodeTrace& node : traces.nodes) {
    for (const Rank& rank : node.ranks) {
      const bool by_signal = rank.wait_status > 0 && WIFSIGNALED(rank.wait_status);
      if (!by_signal && rank.ended != "no record") continue;
      const std::string how = by_signal ? fmt::format("was ended by signal {} ({})", WTERMSIG(rank.wait_status),
                                                      ::strsignal(WTERMSIG(rank.wait_status)))
                                        : "ended without a record of its end";
      traces.problems.push_back(fmt::format("rank {} on {} {} after {}; its rows end there", rank.rank, node.name, how,
                                            summary::time_text(rank.last_ns - node.start_ns, summary::Glyphs{false})));
    }
  }
}

void compare_versions(NodeTraces& traces) {
  const std::string first = text_at(traces.nodes.front().run, "/mlrun_version");
  for (const NodeTrace& node : traces.nodes) {
    const std::string version = text_at(node.run, "/mlrun_version");
    if (version == first || version.empty()) continue;
    traces.problems.push_back(fmt::format("{} was recorded by mlrun {}, {} by {}: what one of them lacks is null",
                                          node.name, version, traces.nodes.front().name, first));
  }
}

}  // namespace

std::string NodeTrace::clock_key() const {
  const std::string boot = text_at(run, "/host/boot_id");
  return boot.empty() ? boot : boot + " " + text_at(run, "/host/time_namespace");
}

std::optional<int64_t> NodeTrace::utc_offset_ns(bool at_end) const {
  const nlohmann::json& value =
      util::json_at(run, at_end ? "/clock/realtime_offset_end_ns" : "/clock/realtime_offset_start_ns");
  return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

std::optional<int64_t> NodeTrace::utc_error_ns() const {
  int64_t most = 0;
  for (const char* when : {"/clock/start/discipline", "/clock/end/discipline"}) {
    if (!util::flag_at(run, std::string(when) + "/is_synchronised")) return std::nullopt;
    most = std::max(most, integer_at(run, std::string(when) + "/max_error_ns"));
  }
  return most;
}

Result<NodeTraces> open_nodes(const std::vector<std::string>& folders, bool may_be_apart) {
  NodeTraces traces;
  std::vector<NodeTrace> opened;
  for (const std::string& folder : folders) {
    auto node = open_node(folder);
    if (node) {
      opened.push_back(*std::move(node));
    } else {
      traces.problems.push_back("left out: " + node.error().text);
    }
  }
  Sorter(std::move(opened), may_be_apart).sort(traces);
  if (traces.nodes.empty()) return fail(fmt::format("nothing to merge: {}", fmt::join(traces.problems, "; ")));
  name_nodes(traces.nodes);
  compare_versions(traces);
  find_missing(traces);
  find_killed(traces);
  return traces;
}

}  // namespace mlrun::nodes
