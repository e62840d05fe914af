// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/past.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "runner/session/sweep_folder.h"

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

PastSeries& series_for(std::vector<PastSeries>& all, const std::string& configuration, const std::string& workload) {
  const auto found = std::ranges::find_if(
      all, [&](const PastSeries& one) { return one.configuration == configuration && one.workload == workload; });
  return found == all.end() ? all.emplace_back(configuration, workload) : *found;
}

}  // namespace

std::vector<PastSeries> past_of(const std::vector<Sweep>& sweeps, const std::string& figure) {
  std::vector<PastSeries> all;
  for (const Sweep& sweep : sweeps) {
    const std::string commit = commit_of(sweep);
    for (const Cell& cell : cells_of(sweep)) {
      const Series series = series_of(cell.done, figure);
      if (series.empty()) continue;
      series_for(all, sweep.configurations[cell.configuration].name, sweep.workloads[cell.workload].key)
          .points.push_back({sweep.folder, commit, sweep.created_realtime_ns, describe(series)});
    }
  }
  for (PastSeries& one : all) {
    std::vector<double> means;
    for (const PastPoint& point : one.points) means.push_back(point.description.mean);
    one.changes = change_points(means, {});
  }
  return all;
}

std::vector<std::string> sweep_folders(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::vector<std::string> below;
    if (!session::is_sweep(folder)) {
      for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (session::is_sweep(at->path().string())) below.push_back(at->path().string());
      }
    }
    std::ranges::sort(below);
    if (below.empty()) below.push_back(folder);  // a sweep, or a folder without sweeps, which open_sweep() reports
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::string commit_of(const Sweep& sweep) {
  for (const RunRow& run : sweep.runs) {
    const auto fact = run.facts.find("commit");
    if (fact != run.facts.end()) return fact->second;
  }
  return "";
}

}  // namespace mlrun::sweep
