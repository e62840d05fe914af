// SPDX-License-Identifier: Apache-2.0
// Turns the builder's sums into the summary: names, roles, order.
#include <cmath>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/builder_state.h"
#include "runner/summary/meters/file_trees.h"
#include "runner/summary/meters/process_tree.h"
#include "runner/summary/meters/roles.h"
#include "runner/summary/meters/top_files.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

using Names = std::unordered_map<int64_t, const std::string*>;

std::vector<HeapLibrary> named(std::vector<HeapLibrary> libraries, const Names& names) {
  for (HeapLibrary& library : libraries) {
    const auto found = names.find(library.library);
    library.name = found == names.end() ? "unknown" : *found->second;
  }
  return libraries;
}

using ProcessRows = std::unordered_map<int32_t, const model::ProcessRow*>;

// The process's row; if the trace has none (as for proc_id 0), a row with only the number.
model::ProcessRow row_of(const ProcessRows& rows, int32_t proc_id) {
  if (const auto found = rows.find(proc_id); found != rows.end()) return *found->second;
  model::ProcessRow row;
  row.proc_id = proc_id;
  row.role = "unknown";
  return row;
}

// Without rows of calls, mappings are unknown.
bool has_call_rows(const model::Run& run) {
  return !run.options.summary_only && (!run.options.streams || run.has_stream("files"));
}

}  // namespace

std::vector<ProcessSummary> Builder::State::process_summaries(const model::TraceInfo& info, const ProcessTree& tree) {
  const auto role_of = roles(info, tree, [&](int32_t proc_id) {
    const Process& sums = process(proc_id);
    return Deeds{sums.totals[size_t(Group::kFiles)], sums.made_folders};
  });
  std::vector<int32_t> order = tree.order();
  processes.for_each([&](uint64_t key, const auto&) {
    const auto proc_id = int32_t(key - 1);
    if (!role_of.contains(proc_id)) order.push_back(proc_id);
  });
  const bool knows_mappings = has_call_rows(model::run_of(*info.run));
  Names names;
  for (const auto& name : info.names) names[name.name_id] = &name.text;
  std::unordered_map<int32_t, const std::string*> exes;
  for (const model::ImageRow& row : info.images) exes[row.image_id] = &row.exe;
  ProcessRows rows;
  for (const model::ProcessRow& row : info.processes) rows.emplace(row.proc_id, &row);

  std::vector<ProcessSummary> out;
  for (const int32_t proc_id : order) {
    Process& sums = process(proc_id);
    sums.heap.finish();
    const model::ProcessRow row = row_of(rows, proc_id);
    const auto role = role_of.find(proc_id);
    ProcessSummary& summary = out.emplace_back();
    summary.proc_id = proc_id;
    summary.parent_proc_id = tree.parent(proc_id);
    summary.pid = row.pid;
    summary.rank = row.rank;
    summary.role = role == role_of.end() ? row.role : role->second;
    summary.command = row.command;
    summary.end = row.end;
    summary.first_ns = row.first_ns;
    summary.last_ns = row.last_ns;
    summary.totals = sums.totals;
    summary.waits = sums.waits.waits();
    summary.recorded_allocations = sums.heap.recorded_allocations();
    summary.counted_allocations = sums.heap.counted_allocations();
    summary.heap_peak = sums.heap.peak();
    summary.heap_libraries = named(sums.heap.libraries(), names);
    if (knows_mappings) {
      summary.mapped_peak = sums.mappings.peak();
      const auto exe = exes.find(summary.mapped_peak.image_id);
      if (exe != exes.end()) summary.mapped_peak.exe = *exe->second;
    }
    if (!sums.heap_sum) continue;
    util::add_to(summary.recorded_allocations, sums.heap_sum->recorded_allocations);
    util::add_to(summary.counted_allocations, sums.heap_sum->counted_allocations);
    if (sums.heap_sum->peak.bytes() <= summary.heap_peak.bytes()) continue;
    summary.heap_peak = sums.heap_sum->peak;
    summary.heap_libraries = named(sums.heap_sum->libraries, names);
  }
  return out;
}

Summary Builder::finish(const model::TraceInfo& info) {
  State& s = *state_;
  const ProcessTree tree(info.processes);
  Summary out;
  out.run = model::run_of(*info.run);
  out.start_ns = s.timeline.start_ns();
  out.calls = s.call_rows;
  out.allocations = s.alloc_rows;
  out.counted_allocations = s.counted_allocations;
  out.counted_frees = s.counted_frees;
  out.served_calls = s.served_calls;
  out.alloc_min_bytes = s.alloc_min_bytes;
  out.alloc_sample_bytes = s.alloc_sample_bytes;
  if (s.alloc_sample_bytes > 0) {
    out.estimated_allocations = std::llround(s.estimated_allocations);
    out.estimated_bytes = std::llround(s.estimated_bytes);
  }
  for (const model::FoldedRow& row : info.folded) util::add_to(out.folded_calls, row.calls);
  out.fold_ns = out.run.options.fold_ns.value_or(0);
  out.heap_blocks_left_out = s.block_room.left_out_blocks;
  out.heap_bytes_left_out = s.block_room.left_out_bytes;
  out.mapped_bytes_left_out = s.mapping_room.left_out_bytes;
  out.processes = s.process_summaries(info, tree);
  put_top_files(s.files, s.names, info.files, s.has_page_cache, out);
  out.trees = file_trees(s.files, s.names, info.files);
  out.funcs = s.calls.funcs();
  out.errors = s.calls.errors();
  out.sites = s.sites.sites(info.stacks);
  out.sizes = s.calls.sizes();
  out.gpu_files = s.gpu_files.finish();
  out.torch_memory = s.torch_memory.finish();
  out.file_access = s.file_access.patterns();
  out.reread = s.files.reread();
  out.bin_ns = s.timeline.bin_ns();
  out.timeline = s.timeline.bins();
  out.phases = s.phases.finish(tree);
  out.splits = s.splits.finish(out.processes, s.phases.splits(tree), info.files);
  out.losses = info.losses;
  out.coverage = info.coverage;
  out.left_out = info.left_out;
  return out;
}

void complete(model::TraceInfo& info, const Summary& summary) {
  std::unordered_map<int32_t, const std::string*> role_of;
  for (const ProcessSummary& process : summary.processes) role_of[process.proc_id] = &process.role;
  for (model::ProcessRow& row : info.processes) {
    if (const auto found = role_of.find(row.proc_id); found != role_of.end()) row.role = *found->second;
  }
  info.phases = summary.phases;
}

}  // namespace mlrun::summary
