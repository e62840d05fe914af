// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/roles.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "runner/events/record.h"
#include "runner/summary/meters/started_as.h"

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

// A forked child has no image of its own: it runs its parent's executable.
bool runs_python(const Known& known, const ProcessTree& tree, int32_t proc_id) {
  for (; proc_id != 0; proc_id = tree.parent(proc_id)) {
    if (known.pythons.contains(proc_id)) return true;
    const auto row = known.rows.find(proc_id);
    if (row == known.rows.end() || !row->second->forked) return false;
  }
  return false;
}

class Ranks {
 public:
  Ranks(const Known& known, const ProcessTree& tree) : known_(known), tree_(tree) {
    for (const int32_t proc_id : tree.order()) find_launchers(row(proc_id));
  }

  // Whether a launcher gave the process its rank: the rank differs from the parent's, or the parent is itself a launcher. A rank that the command
  // itself sets for itself does not count.
  [[nodiscard]] bool has(const model::ProcessRow& process) const {
    if (process.rank < 0 || launchers_.contains(process.proc_id)) return false;
    const int32_t parent = tree_.parent(process.proc_id);
    if (parent == 0) return process.launcher != MLRUN_LAUNCHER_NONE;
    return launchers_.contains(parent) || row(parent).rank != process.rank;
  }

 private:
  [[nodiscard]] const model::ProcessRow& row(int32_t proc_id) const { return *known_.rows.at(proc_id); }

  // A process with one launcher's rank above one with another launcher's rank only starts ranks, as mpirun in a Slurm
  // batch script. Equal ranks of two launchers do not count: programs copy OMPI_COMM_WORLD_RANK to RANK for PyTorch.
  void find_launchers(const model::ProcessRow& process) {
    if (process.rank < 0) return;
    for (int32_t above = tree_.parent(process.proc_id); above != 0; above = tree_.parent(above)) {
      const model::ProcessRow& ancestor = row(above);
      if (ancestor.launcher == process.launcher || ancestor.rank < 0) continue;
      if (ancestor.rank != process.rank) launchers_.insert(above);
    }
  }

  const Known& known_;
  const ProcessTree& tree_;
  std::unordered_set<int32_t> launchers_;
};

// Each Dask worker makes its own folder dask-scratch-space/worker-… (in older versions dask-worker-space/worker-…).
bool is_dask_worker(const model::TraceInfo& info, const Deeds& deeds) {
  return std::any_of(deeds.made_folders.begin(), deeds.made_folders.end(), [&](int64_t file_id) {
    if (file_id <= 0 || static_cast<size_t>(file_id) > info.files.size()) return false;
    const std::string path = info.files[static_cast<size_t>(file_id) - 1].path;
    const size_t name = path.rfind('/') + 1;
    const std::string_view folder = std::string_view(path).substr(0, name);
    return std::string_view(path).substr(name).starts_with("worker-") &&
           (folder.ends_with("/dask-scratch-space/") || folder.ends_with("/dask-worker-space/"));
  });
}

class Roles {
 public:
  Roles(const model::TraceInfo& info, const ProcessTree& tree)
      : info_(info), tree_(tree), known_(look(info)), ranks_(known_, tree) {}

  [[nodiscard]] std::string role(const model::ProcessRow& row, const Deeds& deeds) const {
    if (ranks_.has(row)) return "rank " + std::to_string(row.rank);
    if (row.proc_id == tree_.order().front()) return "main";
    if (known_.loader_workers.contains(row.proc_id)) return "DataLoader worker";
    if (is_dask_worker(info_, deeds)) return "dask worker";
    if (!row.forked) {
      if (const std::string_view role = started_as(row.command); !role.empty()) return std::string(role);
    }
    const bool of_python = row.forked ? runs_python(known_, tree_, tree_.parent(row.proc_id)) : is_spawned(row.command);
    if (of_python && deeds.files.bytes_read > 0 && deeds.files.bytes_written == 0) return "data worker";
    return "child";
  }

 private:
  const model::TraceInfo& info_;
  const ProcessTree& tree_;
  Known known_;
  Ranks ranks_;
};

}  // namespace

std::unordered_map<int32_t, std::string> roles(const model::TraceInfo& info, const ProcessTree& tree,
                                               const std::function<Deeds(int32_t proc_id)>& deeds_of) {
  const Roles roles(info, tree);
  std::unordered_map<int32_t, std::string> out;
  for (const auto& row : info.processes) out[row.proc_id] = roles.role(row, deeds_of(row.proc_id));
  for (const auto& row : info.processes) {  // a process started as `dask worker` is a nanny if it started another one
    const auto parent = out.find(tree.parent(row.proc_id));
    if (parent == out.end() || parent->second != "dask worker" || out[row.proc_id] != "dask worker") continue;
    parent->second = "dask nanny";
  }
  return out;
}

}  // namespace mlrun::summary
