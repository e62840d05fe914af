// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/compared.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/session/sweep_folder.h"
#include "runner/sweep/figures/trace_figures.h"
#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/quantity.h"
#include "runner/sweep/read/remarks.h"
#include "runner/util/text.h"

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

const std::string& name_of(const Sweep& sweep, const Cell& cell) {
  return sweep.configurations[cell.configuration].name;
}
const std::string& key_of(const Sweep& sweep, const Cell& cell) { return sweep.workloads[cell.workload].key; }

std::vector<std::string> configuration_names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const Configuration& each : sweep.configurations) names.push_back(each.name);
  return names;
}

Result<uint32_t> find_configuration(const Sweep& sweep, const std::string& name) {
  const auto found = std::ranges::find(sweep.configurations, name, &Configuration::name);
  if (found != sweep.configurations.end()) return static_cast<uint32_t>(found - sweep.configurations.begin());
  return fail(
      fmt::format("{} has no configuration {}{}", sweep.folder, name, known_words(name, configuration_names(sweep))));
}

// Adds rows and warnings of pairs of cells; the correction comes last, when all of them are known.
class Comparer {
 public:
  Comparer(const Sweep& a, const Sweep& b, bool by_block, double margin)
      : a_(a), b_(b), options_{.margin = margin, .by_block = by_block} {
    all_.margin = margin;
    names_ = figure_names(a);
    std::erase_if(names_, [known = figure_names(b)](const std::string& name) {
      return std::ranges::find(known, name) == known.end();
    });
    question_ = question_of(a);
  }

  void warn(std::string text) {
    if (!text.empty() && std::ranges::find(all_.warnings, text) == all_.warnings.end())
      all_.warnings.push_back(std::move(text));
  }

  void add(const Cell& a, const Cell& b) {
    const CellPair& pair = all_.pairs.emplace_back(name_of(b_, b), name_of(a_, a), key_of(b_, b), a, b);
    warn_of(a_, a, pair);
    warn_of(b_, b, pair);
    if (const auto unlike = unlike_sides(a, b)) {
      warn(fmt::format("{} read {} from devices a run, {} {}, {}: their page caches differ, too", pair.configuration,
                       figure_text("read_bytes", unlike->b_bytes, {}), pair.base,
                       figure_text("read_bytes", unlike->a_bytes, {}), pair.workload));
    }
    for (const std::string& figure : names_) {
      const Series of_a = series_of(a.done, figure), of_b = series_of(b.done, figure);
      if (of_a.empty() || of_b.empty()) continue;
      const bool is_question = std::ranges::find(question_, figure) != question_.end();
      all_.rows.push_back({all_.pairs.size() - 1, figure, is_question, sweep::compare(of_a, of_b, options_)});
    }
  }

  [[nodiscard]] Compared finish() {
    std::vector<Comparison> question;
    for (const ComparedRow& row : all_.rows) {
      if (row.is_question) question.push_back(row.comparison);
    }
    correct_for_number(question);
    all_.questions = question.size();
    auto corrected = question.begin();
    for (ComparedRow& row : all_.rows) {
      if (row.is_question) row.comparison = *corrected++;
    }
    return std::move(all_);
  }

 private:
  void warn_of(const Sweep& sweep, const Cell& cell, const CellPair& pair) {
    std::vector<std::string> remarks = remarks_on(cell);
    for (const std::string& figure : question_) {
      const Series series = series_of(cell.done, figure);
      if (series.empty()) continue;
      for (std::string& remark : remarks_on(figure, describe(series))) remarks.push_back(std::move(remark));
    }
    for (const std::string& remark : remarks) {
      warn(fmt::format("{}, {}: {}", &a_ == &b_ ? name_of(sweep, cell) : sweep.folder + ":" + name_of(sweep, cell),
                       pair.workload, remark));
    }
  }

  const Sweep& a_;
  const Sweep& b_;
  ComparisonOptions options_;
  std::vector<std::string> names_, question_;
  Compared all_;
};

std::vector<Cell> cells_of(const Side& side) {
  std::vector<Cell> cells = cells_of(side.sweep);
  if (side.configuration)
    std::erase_if(cells, [&](const Cell& cell) { return cell.configuration != *side.configuration; });
  return cells;
}

bool has_one_configuration(const Side& side) { return side.configuration || side.sweep.configurations.size() == 1; }
bool has_one_workload(const std::vector<Cell>& cells) {
  return std::ranges::all_of(cells, [&](const Cell& cell) { return cell.workload == cells.front().workload; });
}

bool are_the_same(const Side& a, const Side& b) {
  std::error_code error;
  return !a.is_trace && !b.is_trace && fs::equivalent(a.sweep.folder, b.sweep.folder, error);
}

// "governor: powersave at A, performance at B". Facts of the runs are left out: most have another value in each run, and sweeps of
// different commits are compared on purpose.
std::vector<std::string> unlike_machines(const Side& a, const Side& b) {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> facts;
  for (const RunRow& run : a.sweep.runs) {
    for (const auto& [name, value] : run.facts) facts[name].first.insert(value);
  }
  for (const RunRow& run : b.sweep.runs) {
    for (const auto& [name, value] : run.facts) facts[name].second.insert(value);
  }
  std::vector<std::string> found;
  for (const auto& [name, sides] : facts) {
    if (sides.first.empty() || sides.second.empty() || sides.first == sides.second) continue;
    if (std::ranges::find(kFactsOfRun, name) != kFactsOfRun.end()) continue;
    found.push_back(fmt::format("{}: {} at {}, {} at {}", name, fmt::join(sides.first, " and "), a.name,
                                fmt::join(sides.second, " and "), b.name));
  }
  return found;
}

// The trace as a sweep of one run. Its configuration is the only one, whatever its options, so that any two traces can be compared.
Result<Sweep> sweep_of_trace(const std::string& folder) {
  auto run = figures_of_trace(folder);
  if (!run) return tl::make_unexpected(run.error());
  Sweep sweep;
  sweep.folder = folder;
  sweep.configurations.emplace_back().name = folder;
  sweep.workloads.emplace_back().key = "one run";
  RunRow row;
  row.planned = {.block = 1, .position = 1, .command = {}, .folder = folder};
  row.state = RunState::kDone;
  row.figures = std::move(*run);
  sweep.runs.push_back(std::move(row));
  return sweep;
}

bool has_file(const std::string& folder, const char* name) {
  std::error_code error;
  return fs::exists(fs::path(folder) / name, error);
}

}  // namespace

Result<Side> open_side(const std::string& text) {
  Side side;
  side.name = text;
  std::string folder = text, configuration;
  std::error_code error;
  const size_t colon = text.rfind(':');
  if (!fs::is_directory(text, error) && colon != std::string::npos && fs::is_directory(text.substr(0, colon), error)) {
    folder = text.substr(0, colon);
    configuration = text.substr(colon + 1);
  }
  if (configuration.empty() && !session::is_sweep(folder) && has_file(folder, "run.json")) {
    auto trace = sweep_of_trace(folder);
    if (!trace) return tl::make_unexpected(trace.error());
    side.sweep = std::move(*trace);
    side.is_trace = true;
    return side;
  }
  if (fs::is_directory(folder, error) && !session::is_sweep(folder)) {
    return fail(
        folder +
        " holds no sweep and no finished trace (it has neither sweep.sqlite nor run.json); mlrun list DIR shows "
        "those in a folder");
  }
  auto sweep = open_sweep(folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  side.sweep = std::move(*sweep);
  if (configuration.empty()) return side;
  const auto found = find_configuration(side.sweep, configuration);
  if (!found) return tl::make_unexpected(found.error());
  side.configuration = *found;
  return side;
}

Result<Compared> compare_sides(const Side& a, const Side& b, std::optional<double> margin) {
  if (a.is_trace != b.is_trace) {
    return fail(
        fmt::format("{} and {}: a trace is one run; compare it with a trace, or a sweep with a sweep", a.name, b.name));
  }
  if (has_one_configuration(a) != has_one_configuration(b)) {
    const Side& many = has_one_configuration(a) ? b : a;
    return fail(fmt::format("{} has several configurations, the other side has one; write {}:NAME with one of: {}",
                            many.name, many.name, fmt::join(configuration_names(many.sweep), ", ")));
  }
  const bool is_one_sweep = are_the_same(a, b), by_name = !has_one_configuration(a);
  const std::vector<Cell> cells_a = cells_of(a), cells_b = cells_of(b);
  const bool by_workload = !has_one_workload(cells_a) || !has_one_workload(cells_b);
  Comparer comparer(a.sweep, b.sweep, is_one_sweep && a.sweep.order == Order::kBlocks, margin.value_or(a.sweep.margin));
  std::vector<const Cell*> left(cells_b.size());
  std::ranges::transform(cells_b, left.begin(), [](const Cell& cell) { return &cell; });
  std::vector<std::string> alone;
  for (const Cell& cell : cells_a) {
    const auto other = std::ranges::find_if(left, [&](const Cell* one) {
      return (!by_name || name_of(a.sweep, cell) == name_of(b.sweep, *one)) &&
             (!by_workload || key_of(a.sweep, cell) == key_of(b.sweep, *one));
    });
    if (other == left.end()) {
      alone.push_back(fmt::format("only in {}: {}, {}", a.name, name_of(a.sweep, cell), key_of(a.sweep, cell)));
      continue;
    }
    comparer.add(cell, **other);
    if (const std::string& of_a = key_of(a.sweep, cell), &of_b = key_of(b.sweep, **other); of_a != of_b) {
      comparer.warn(fmt::format("the workloads differ: {} of {}, {} of {}", of_a, a.name, of_b, b.name));
    }
    left.erase(other);
  }
  for (const Cell* cell : left) {
    alone.push_back(fmt::format("only in {}: {}, {}", b.name, name_of(b.sweep, *cell), key_of(b.sweep, *cell)));
  }
  if (alone.size() == cells_a.size() + cells_b.size()) {
    return fail(fmt::format("{} and {} have no {} in common; {}", a.name, b.name,
                            by_name ? "configuration with a workload" : "workload",
                            by_name ? "name a configuration of each: OUT:CONFIGURATION" : "nothing can be compared"));
  }
  for (std::string& each : alone) comparer.warn(std::move(each));
  if (is_one_sweep) {
    comparer.warn(order_warning(a.sweep));
  } else {
    comparer.warn("the two sides were run at different times: a drift of the machine looks like an effect");
    for (std::string& each : unlike_machines(a, b)) comparer.warn(std::move(each));
  }
  comparer.warn(looks_remark(a.sweep));
  comparer.warn(looks_remark(b.sweep));
  return comparer.finish();
}

Result<Compared> compare_within(const Sweep& sweep, const std::string& base, std::optional<double> margin) {
  std::optional<uint32_t> given;
  if (!base.empty()) {
    const auto found = find_configuration(sweep, base);
    if (!found) return tl::make_unexpected(found.error());
    given = *found;
  }
  if (sweep.configurations.size() < 2) {
    return fail(sweep.folder + " has one configuration; compare it with another sweep: mlrun compare A B");
  }
  Comparer comparer(sweep, sweep, sweep.order == Order::kBlocks, margin.value_or(sweep.margin));
  const std::vector<Cell> cells = cells_of(sweep);
  for (const Cell& cell : cells) {
    const uint32_t with = given.value_or(base_of(sweep, cell.configuration));
    const auto found = std::ranges::find_if(
        cells, [&](const Cell& other) { return other.workload == cell.workload && other.configuration == with; });
    if (with != cell.configuration && found != cells.end()) comparer.add(*found, cell);
  }
  comparer.warn(order_warning(sweep));
  comparer.warn(looks_remark(sweep));
  return comparer.finish();
}

}  // namespace mlrun::sweep
