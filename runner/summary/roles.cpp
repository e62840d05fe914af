// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/roles.h"

#include <string_view>
#include <unordered_set>

namespace mlrun::summary {
namespace {

struct Known {
  std::unordered_map<int32_t, const model::ProcessRow*> rows;
  std::unordered_set<int32_t> loader_workers;  // by thread name
  std::unordered_set<int32_t> pythons;         // by executable
};

Known look(const model::TraceInfo& info) {
  Known known;
  for (const auto& row : info.processes) known.rows[row.proc_id] = &row;
  for (const auto& row : info.threads) {
    if (row.comm.starts_with("pt_data_worker")) known.loader_workers.insert(row.proc_id);
  }
  for (const auto& row : info.images) {
    const std::string_view exe = row.exe;
    if (exe.substr(exe.rfind('/') + 1).starts_with("python")) known.pythons.insert(row.proc_id);
  }
  return known;
}

// A forked child has no image of its own: it runs its parent's.
bool runs_python(const Known& known, const ProcessTree& tree, int32_t proc_id) {
  for (; proc_id != 0; proc_id = tree.parent(proc_id)) {
    if (known.pythons.contains(proc_id)) return true;
    const auto row = known.rows.find(proc_id);
    if (row == known.rows.end() || !row->second->forked) return false;
  }
  return false;
}

std::string role(const Known& known, const ProcessTree& tree, const model::ProcessRow& row, const Totals& files) {
  const int32_t parent = tree.parent(row.proc_id);
  const auto parent_row = known.rows.find(parent);
  const int32_t parent_rank = parent_row == known.rows.end() ? -1 : parent_row->second->rank;
  if (row.rank >= 0 && row.rank != parent_rank) return "rank " + std::to_string(row.rank);
  if (row.proc_id == tree.order().front()) return "main";
  const auto says = [&](const char* text) { return row.command.find(text) != std::string::npos; };
  if (says("multiprocessing.resource_tracker")) return "resource tracker";
  if (says("multiprocessing.forkserver")) return "fork server";
  if (known.loader_workers.contains(row.proc_id)) return "DataLoader worker";
  const bool of_python = says("--multiprocessing-fork") || (row.forked && runs_python(known, tree, parent));
  if (of_python && files.bytes_read > 0 && files.bytes_written == 0) return "data worker";
  return "child";
}

}  // namespace

std::unordered_map<int32_t, std::string> roles(const model::TraceInfo& info, const ProcessTree& tree,
                                               const std::function<Totals(int32_t proc_id)>& files_of) {
  const Known known = look(info);
  std::unordered_map<int32_t, std::string> out;
  for (const auto& row : info.processes) out[row.proc_id] = role(known, tree, row, files_of(row.proc_id));
  return out;
}

}  // namespace mlrun::summary
