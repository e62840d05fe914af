// SPDX-License-Identifier: Apache-2.0
// The order and the folders of runs.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <random>
#include <set>

#include <fmt/format.h>

#include "runner/sweep/plan/named_values.h"
#include "runner/sweep/plan/plan.h"
#include "runner/sweep/plan/shell_words.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kNameBytesMax = 160;  // with configuration and number within the 255 of a file name

// One configuration × workload that is run.
struct Cell {
  uint32_t configuration = 0, workload = 0;
  Words command;
  std::string name;  // first part of the folder's name
};

// std::shuffle and std::uniform_int_distribution give each standard library's own order; the engine is the same everywhere.
class Shuffler {
 public:
  Shuffler(uint64_t seed, uint64_t number) : engine_(seed + number * 0x9e3779b97f4a7c15u) {}

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t left = items.size(); left > 1; left--) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  size_t below(uint64_t limit) {
    const uint64_t whole = std::mt19937_64::max() - std::mt19937_64::max() % limit;  // a multiple of `limit`
    uint64_t drawn = engine_();
    while (drawn >= whole) drawn = engine_();
    return drawn % limit;
  }

  std::mt19937_64 engine_;
};

// The program without its folder, and its arguments: of both only letters, digits, underscores and dots.
std::string squeezed(const Words& command) {
  std::string text(util::base_name(command.front()));
  for (size_t i = 1; i < command.size(); i++) text += command[i];
  std::erase_if(
      text, [](unsigned char byte) { return byte >= 0x80 || (std::isalnum(byte) == 0 && byte != '_' && byte != '.'); });
  if (text.find_first_not_of('.') == std::string::npos) text = "run" + text;
  return text.substr(0, kNameBytesMax);
}

// Folder names are given in the order of the plan, so that additions at its end change none.
std::vector<Cell> cells_of(const Plan& plan) {
  std::vector<Cell> cells;
  for (uint32_t c = 0; c < plan.configurations.size(); c++) {
    std::set<std::string> taken;
    for (uint32_t w = 0; w < plan.workloads.size(); w++) {
      Cell cell{c, w, command_of(plan, plan.configurations[c], plan.workloads[w]), {}};
      if (cell.command.empty()) continue;
      const std::string name = squeezed(cell.command);
      cell.name = name;
      for (int number = 2; !taken.insert(cell.name).second; number++) cell.name = fmt::format("{}_{}", name, number);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace

Words command_of(const Plan& plan, const Configuration& configuration, const Workload& workload) {
  auto words = shell_words(workload.text);
  if (!words) return {};
  Parameters values = workload.parameters;
  for (const std::string& name : names_in(*words)) {
    const auto own = configuration.parameters.find(name);
    const bool is_set = own != configuration.parameters.end();
    if (is_set == workload.parameters.contains(name) && (is_set || !plan.defaults.contains(name))) return {};
    if (is_set) values[name] = own->second;
  }
  values.insert(plan.defaults.begin(), plan.defaults.end());
  for (std::string& word : *words) word = with_values(word, values);
  return *std::move(words);
}

std::vector<PlannedRun> planned_runs(const Plan& plan, int32_t repetitions) {
  const std::vector<Cell> cells = cells_of(plan);
  std::vector<std::pair<int32_t, const Cell*>> order;  // block, cell
  if (plan.order == Order::kBlocks) {
    for (int32_t block = 1; block <= repetitions; block++) {
      std::vector<std::pair<int32_t, const Cell*>> runs;
      for (const Cell& cell : cells) runs.emplace_back(block, &cell);
      Shuffler(plan.seed, static_cast<uint64_t>(block)).shuffle(runs);
      order.insert(order.end(), runs.begin(), runs.end());
    }
  } else {
    for (uint32_t c = 0; c < plan.configurations.size(); c++) {
      std::vector<std::pair<int32_t, const Cell*>> runs;
      for (const Cell& cell : cells) {
        for (int32_t block = 1; cell.configuration == c && block <= repetitions; block++)
          runs.emplace_back(block, &cell);
      }
      Shuffler(plan.seed, c).shuffle(runs);
      order.insert(order.end(), runs.begin(), runs.end());
    }
  }
  std::vector<PlannedRun> planned;
  planned.reserve(order.size());
  for (const auto& [block, cell] : order) {
    PlannedRun run{block, static_cast<int32_t>(planned.size() + 1), cell->configuration, cell->workload, cell->command,
                   {}};
    run.folder = fmt::format("{}.{}.{}", cell->name, plan.configurations[cell->configuration].name, block);
    planned.push_back(std::move(run));
  }
  return planned;
}

}  // namespace mlrun::sweep
