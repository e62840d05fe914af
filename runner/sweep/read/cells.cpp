// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/cells.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

bool differ_in_recording_alone(const Configuration& one, const Configuration& other) {
  const auto rest = [](const Configuration& c) {
    return std::tie(c.cpus, c.cpu_node, c.mem_node, c.cache, c.environment, c.parameters);
  };
  return rest(one) == rest(other);
}

}  // namespace

std::vector<Cell> cells_of(const Sweep& sweep) {
  // The last attempt of a run decides; attempts are in order.
  std::map<std::tuple<uint32_t, uint32_t, int32_t>, const RunRow*> last;  // workload, configuration, block
  for (const RunRow& run : sweep.runs) {
    last[{run.planned.workload, run.planned.configuration, run.planned.block}] = &run;
  }
  std::vector<Cell> cells;
  for (const auto& [key, run] : last) {
    const auto [workload, configuration, block] = key;
    if (cells.empty() ||
        std::pair(cells.back().workload, cells.back().configuration) != std::pair(workload, configuration)) {
      cells.push_back({.configuration = configuration, .workload = workload, .done = {}, .failed = {}});
    }
    Cell& cell = cells.back();
    switch (run->state) {
      case RunState::kDone: cell.done.push_back(run); break;
      case RunState::kFailed:
      case RunState::kTimedOut: run->interrupted ? void(++cell.left) : cell.failed.push_back(run); break;
      case RunState::kPlanned:
      case RunState::kRunning: ++cell.left; break;
    }
  }
  for (Cell& cell : cells) {
    std::ranges::sort(cell.done, {}, [](const RunRow* run) { return run->planned.position; });
  }
  return cells;
}

Series series_of(std::span<const RunRow* const> runs, const std::string& figure) {
  Series series;
  for (const RunRow* run : runs) {
    const auto found = run->figures.find(figure);
    if (found != run->figures.end()) series.push_back({run->planned.block, run->planned.position, found->second});
  }
  return series;
}

std::vector<std::string> question_of(const Sweep& sweep) {
  return sweep.question.empty() ? std::vector<std::string>{"wall_s"} : sweep.question;
}

std::vector<std::string> figure_names(const Sweep& sweep) {
  std::set<std::string> known;
  for (const RunRow& run : sweep.runs) {
    if (run.state != RunState::kDone) continue;
    for (const auto& [name, value] : run.figures) known.insert(name);
  }
  std::vector<std::string> names;
  for (const std::string& name : question_of(sweep)) {
    if (known.erase(name) > 0) names.push_back(name);
  }
  names.insert(names.end(), known.begin(), known.end());
  return names;
}

uint32_t base_of(const Sweep& sweep, uint32_t configuration) {
  const auto& all = sweep.configurations;
  const auto first_dry = std::ranges::find_if(all, &Configuration::is_dry);
  if (first_dry == all.end()) return 0;
  const auto alike = std::ranges::find_if(all, [&](const Configuration& other) {
    return other.is_dry && !all[configuration].is_dry && differ_in_recording_alone(other, all[configuration]);
  });
  return static_cast<uint32_t>((alike == all.end() ? first_dry : alike) - all.begin());
}

Result<Sweep> open_sweep(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    const char* what = fs::exists(folder, error) ? " is no folder" : " does not exist";
    return fail(folder + what + "; give the folder of a sweep, the OUT of mlrun sweep PLAN -o OUT");
  }
  return read_sweep(folder);
}

}  // namespace mlrun::sweep
