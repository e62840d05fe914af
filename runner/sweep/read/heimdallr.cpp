// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/heimdallr.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "runner/sweep/read/cells.h"

namespace mlrun::sweep {
namespace {

// PROG and MODE of a run's folder, which is named PROG.MODE.RUN; MODE is the name of the configuration.
std::pair<std::string, std::string> program_and_mode(const Sweep& sweep, const Cell& cell) {
  const std::string& mode = sweep.configurations[cell.configuration].name;
  std::string program = cell.done.front()->planned.folder;
  program.erase(std::min(program.rfind('.'), program.size()));
  if (program.ends_with("." + mode)) program.erase(program.size() - mode.size() - 1);
  return {program, mode};
}

// By program, then mode. Cells without a successful run have no line.
std::map<std::pair<std::string, std::string>, Cell> sorted_cells(const Sweep& sweep) {
  std::map<std::pair<std::string, std::string>, Cell> sorted;
  for (Cell& cell : cells_of(sweep)) {
    if (cell.done.empty()) continue;
    std::ranges::sort(cell.done, {}, [](const RunRow* run) { return run->planned.block; });
    sorted.emplace(program_and_mode(sweep, cell), std::move(cell));
  }
  return sorted;
}

constexpr std::array<std::pair<const char*, const char*>, 3> kTimes = {
    {{"utime", "user_s"}, {"stime", "sys_s"}, {"wtime", "wall_s"}}};

}  // namespace

std::string heimdallr_list(const Sweep& sweep) {
  std::string out;
  for (const auto& [name, cell] : sorted_cells(sweep)) {
    const RunRow& run = *cell.done.front();
    out += fmt::format("{:3d}: {}.{}.{}\n", run.id, name.first, name.second, run.planned.block);
  }
  return out;
}

std::string heimdallr_stat(const Sweep& sweep) {
  std::string out = "prog,mode,reps";
  for (const auto& [title, figure] : kTimes) {
    for (const char* function : {"med", "min", "max", "avg", "std"}) out += fmt::format(",{}_{}", title, function);
  }
  out += '\n';
  for (const auto& [name, cell] : sorted_cells(sweep)) {
    out += fmt::format("{},{},{}", name.first, name.second, cell.done.size());
    for (const auto& [title, figure] : kTimes) {
      const Description d = describe(series_of(cell.done, figure));
      for (const double value : {d.median, d.min, d.max, d.mean, d.sd}) out += fmt::format(",{:.4e}", value);
    }
    out += '\n';
  }
  return out;
}

}  // namespace mlrun::sweep
