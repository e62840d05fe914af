// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/merge_nodes.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/nodes/node_tables.h"
#include "runner/nodes/stop_handlers.h"
#include "runner/nodes/table_copy.h"
#include "runner/nodes/table_file.h"
#include "runner/options/cli.h"
#include "runner/parquet/parquet_table.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/text/terminal.h"
#include "runner/report/text/text_merged.h"
#include "runner/session/new_trace_folder.h"
#include "runner/util/json_at.h"
#include "runner/util/log.h"
#include "runner/util/spilled_memory.h"
#include "runner/util/text.h"

namespace mlrun::nodes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFooter =
    "Examples:\n"
    "  mlrun merge trace-node0 trace-node1 -o all       the clocks are compared by the messages between the nodes\n"
    "  mlrun merge trace-* -o all --marks barrier       and by the ranges \"barrier\", which all ranks leave together\n"
    "  mlrun merge run imported -o both --offset 1500ms   the second trace's times plus 1.5 s\n"
    "  mlrun report all                                 the ranks, the slowest one and why\n"
    "\n"
    "All times are on the first trace's clock. Each node's clock has an error, which counts for every figure that "
    "compares nodes. A trace\n"
    "that cannot be merged is named and left out. If only one of several is left, no trace is made and the exit status "
    "is 125.\n"
    "How to trace a cluster, step by step: runner/sweep/cluster.md in PREFIX/share/doc/mlrun.";

struct Options {
  std::vector<std::string> traces;
  std::string folder, marks, offset;
  unsigned threads = 0;
  bool quiet = false;
};

// Sums of the nodes' totals.
std::map<std::string, int64_t> totals_of(const std::vector<NodeTrace>& nodes) {
  std::map<std::string, int64_t> sums;
  for (const NodeTrace& node : nodes) {
    for (const auto& [name, count] : node.run.totals) sums[name] += count;
  }
  return sums;
}

// Entries of a list of run.json, each with the node's name.
json joined(const std::vector<NodeTrace>& nodes, const char* list) {
  json all = json::array();
  for (const NodeTrace& node : nodes) {
    for (json entry : util::list_at(*node.run.document, list)) {
      if (!entry.is_object()) continue;
      entry["node"] = node.name;
      all.push_back(std::move(entry));
    }
  }
  return all;
}

json run_json(const Merged& merged) {
  const std::vector<NodeTrace>& nodes = merged.traces.nodes;
  const json& first = *nodes.front().run.document;
  json run = {{"schema_version", tables::kTraceSchemaVersion}, {"totals", totals_of(nodes)}};
  for (const char* key : {"mlrun_version", "command", "cwd", "source", "job", "options"}) {
    if (first.contains(key)) run[key] = first[key];
  }
  run["clock"] = util::json_at(first, "/clock");
  run["losses"] = joined(nodes, "/losses");
  run["coverage"] = joined(nodes, "/coverage");
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN, status = 0, user_ns = 0, sys_ns = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    start_ns = std::min(start_ns, merged.alignment.clocks[i].line.ours(nodes[i].start_ns));
    end_ns = std::max(end_ns, merged.alignment.clocks[i].line.ours(nodes[i].end_ns));
    if (status == 0) status = nodes[i].run.exit_status.value_or(0);
    user_ns += nodes[i].run.user_ns.value_or(0);
    sys_ns += nodes[i].run.sys_ns.value_or(0);
  }
  run["start_ns"] = start_ns;
  run["end_ns"] = end_ns;
  run["wall_ns"] = end_ns - start_ns;
  run["exit_status"] = status;
  run["user_ns"] = user_ns;
  run["sys_ns"] = sys_ns;
  run["merged"] = merged_json(merged);
  return run;
}

Result<int64_t> signed_time(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const auto time = util::parse_time(is_negative || text.starts_with('+') ? text.substr(1) : text);
  if (!time) return tl::make_unexpected(time.error());
  constexpr uint64_t kMost = uint64_t{100} * 366 * 86'400 * 1'000'000'000;  // times moved by it fit 64 bits
  if (*time > kMost) return fail(fmt::format("'{}' is more than 100 years", text));
  return is_negative ? -static_cast<int64_t>(*time) : static_cast<int64_t>(*time);
}

// Writes the whole content of the new trace. Requires: `folder` exists.
Status fill(const std::string& folder, Merged& merged, unsigned threads) {
  auto bases = copy_tables(merged.traces.nodes, merged.alignment.clocks, {folder, threads}, merged.traces.problems);
  if (!bases) return tl::make_unexpected(bases.error());
  merged.key_bases = *std::move(bases);
  auto figures = figures_of(merged.traces, merged.alignment);
  if (!figures) return tl::make_unexpected(figures.error());
  merged.figures = *std::move(figures);
  if (Status written = write_node_tables(merged, folder); !written) return written;
  if (Status goes_on = check_stopped(); !goes_on) return goes_on;
  json run = run_json(merged);
  run["tables"] = tables::table_files(folder + "/tables");
  return model::write_run(run, folder);
}

Status align_and_fill(const std::string& folder, const Options& options, const AlignmentOptions& alignment,
                      Merged& merged) {
  auto aligned = align(merged.traces, alignment);
  if (!aligned) return tl::make_unexpected(aligned.error());
  merged.alignment = *std::move(aligned);
  // If only one of several traces is left, it is not merged: its copy would pass for the run on all nodes, above all in a script.
  if (merged.traces.nodes.size() == 1 && options.traces.size() > 1) {
    const std::string& rest = merged.traces.nodes.front().folder;
    return fail(fmt::format("nothing to merge: of {} traces only one is left, {}; mlrun report {} shows it",
                            options.traces.size(), rest, rest));
  }
  return fill(folder, merged, options.threads);
}

// A trace whose damage shows while it is read is left out, and the others are merged from the beginning.
Status merge_whole_ones(const std::string& folder, const Options& options, const AlignmentOptions& alignment,
                        NodeTraces opened, Merged& merged) {
  std::vector<std::string> wanted = options.traces, damaged;
  for (;;) {
    merged = Merged();
    merged.traces = std::move(opened);
    Status done = align_and_fill(folder, options, alignment, merged);
    std::vector<std::string>& left_out = merged.traces.left_out;
    left_out.insert(left_out.begin(), damaged.begin(), damaged.end());
    if (done) return {};
    const auto at = std::find_if(wanted.begin(), wanted.end(),
                                 [&](const auto& trace) { return is_about_trace(done.error(), trace); });
    if (is_stopped() || at == wanted.end() || wanted.size() == 1) return done;
    damaged.push_back(fmt::format("{} is left out: {}", *at, done.error().text));
    wanted.erase(at);
    std::error_code ignored;
    fs::remove_all(folder + "/tables", ignored);
    auto others = open_nodes(wanted, alignment.offset_ns.has_value());
    if (!others) return fail(fmt::format("{}; {}", fmt::join(damaged, "; "), others.error().text));
    opened = *std::move(others);
  }
}

Result<std::optional<Options>> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Makes one trace of the traces of several nodes, or of a run and an imported trace.", "merge");
  set_usage(app, "mlrun merge [OPTIONS] TRACE... -o NEW");
  app.footer(kFooter);
  app.add_option("TRACE", options.traces, "folders of traces; the first one's clock is that of the new trace")
      ->required();
  app.add_option("-o,--output", options.folder, "folder of the new trace")->option_text("NEW")->required();
  auto* offset = app.add_option(
      "--offset", options.offset,
      "added to the times of the second trace, instead of comparing clocks: 1500ms, -20us (default: none)");
  offset->option_text("TIME");
  app.add_option("--marks", options.marks,
                 "ranges of this name are barriers: every rank begins the n-th before any ends it (default: none)")
      ->option_text("NAME")
      ->excludes(offset);
  app.add_option("--threads", options.threads,
                 "threads to work with (default: as many as there are processors, at most 8)")
      ->check(CLI::Range(1, 64));
  app.add_flag("--quiet", options.quiet, "print only problems of the traces, no summary (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<Options>();
  constexpr unsigned kThreadsMost = 8;
  if (options.threads == 0) options.threads = std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMost);
  for (std::string& trace : options.traces) trace = plain_folder(trace);
  return options;
}

}  // namespace

Result<int> merge_nodes(const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const Options& options = **parsed;
  AlignmentOptions alignment{options.marks, std::nullopt};
  if (!options.offset.empty()) {
    const auto offset = signed_time(options.offset);
    if (!offset) return fail("--offset: " + offset.error().text);
    alignment.offset_ns = *offset;
  }
  if (Status free = session::check_asked_folder(options.folder); !free) return tl::make_unexpected(free.error());
  auto traces = open_nodes(options.traces, alignment.offset_ns.has_value());
  if (!traces) return tl::make_unexpected(traces.error());
  std::error_code ignored;
  const bool was_there = fs::exists(options.folder, ignored);
  const StopHandlers signals;
  const auto folder = session::make_trace_folder(options.folder, "merged");
  if (!folder) return tl::make_unexpected(folder.error());
  const util::SpillFolder spill(*folder);
  Merged merged;
  const Status made = merge_whole_ones(*folder, options, alignment, *std::move(traces), merged);
  for (const std::string& line : merged.traces.left_out) util::say(line);
  if (!made) {
    fs::remove_all(*folder + "/tables", ignored);
    if (!was_there) fs::remove(*folder, ignored);  // fails if others have put files into it
    return tl::make_unexpected(made.error());
  }
  for (const std::string& line : merged.traces.problems) util::say(line);
  if (options.quiet) return 0;
  const std::string text = report::merged_text(merged_json(merged), options.folder, report::style_of(stderr), false);
  std::fwrite(text.data(), 1, text.size(), stderr);  // write errors are ignored: the trace is complete
  return 0;
}

}  // namespace mlrun::nodes
