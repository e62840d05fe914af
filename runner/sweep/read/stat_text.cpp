// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/stat_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "runner/report/text/text_table.h"
#include "runner/sweep/read/outside.h"
#include "runner/sweep/read/picture.h"
#include "runner/sweep/read/quantity.h"
#include "runner/sweep/read/remarks.h"
#include "runner/util/median.h"
#include "runner/util/units.h"

namespace mlrun::sweep {
namespace {

using report::TextStyle;
using StatRows = std::span<const StatRow>;

constexpr size_t kAnyLines = 1000;

std::string note(const std::string& text, const TextStyle& style) {
  return report::paragraph(text, 2, kAnyLines, style);
}

double median(const Series& series) {
  std::vector<double> values;
  for (const Observation& run : series) values.push_back(run.value);
  return util::median(std::move(values));
}

// The centre of an interval. That of t on logarithms is the geometric mean, the middle of the interval on the logarithmic scale.
struct Centre {
  const char* name;
  double value;
};
Centre centre_of(const Description& d) {
  if (d.method == Method::kBca) return {"median", d.median};
  if (d.method != Method::kLogT || !d.interval) return {"mean", d.mean};
  return {"geometric mean", std::sqrt(d.interval->low) * std::sqrt(d.interval->high)};
}

class WorkloadText {
 public:
  WorkloadText(const Sweep& sweep, StatRows rows, const TextStyle& style) : sweep_(sweep), rows_(rows), style_(style) {}

  [[nodiscard]] std::string figure(const std::string& name) const {
    const auto value_text = [&](double value) { return figure_text(name, value, style_.glyphs); };
    if (std::ranges::none_of(rows_, [&](const StatRow& row) { return row.figures.contains(name); })) {
      return note("no successful run has " + name, style_);
    }
    std::string out = table(name) + methods(name) + medians(name) + drifts(name);
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found == row.figures.end()) continue;
      for (const std::string& remark : remarks_on(name, found->second)) out += warning(row, remark);
    }
    std::vector<NamedBar> intervals;
    std::vector<NamedSeries> runs;
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found == row.figures.end()) continue;
      intervals.push_back({configuration(row), centre_of(found->second).value, found->second.interval});
      runs.push_back({configuration(row), series_of(row.cell.done, name)});
    }
    if (intervals.size() > 1) out += "\n" + bars(intervals, std::nullopt, value_text, style_);
    if (std::ranges::any_of(runs, [](const NamedSeries& one) { return one.series.size() > 1; })) {
      out += "\n" +
             style_.dim(report::cut_end(name + " of every run, in the order of runs", style_.width, style_.glyphs)) +
             "\n" + dots(runs, value_text, style_);
    }
    return out;
  }

  [[nodiscard]] std::string remarks() const {
    std::string out;
    for (const StatRow& row : rows_) {
      for (const std::string& remark : row.remarks) out += warning(row, remark);
    }
    return out;
  }

  // Medians of the figures that have no table of their own.
  [[nodiscard]] std::string others(const std::vector<std::string>& names) const {
    constexpr size_t kNameWidth = 16;
    std::vector<std::string> titles = {"medians of other figures"};
    for (const StatRow& row : rows_) titles.push_back(report::cut_front(configuration(row), kNameWidth, style_.glyphs));
    report::TextTable table(titles);
    for (const std::string& name : names) {
      std::vector<std::string> cells = {name};
      bool is_shown = false;  // true: some run has a value other than 0
      for (const StatRow& row : rows_) {
        const Series series = series_of(row.cell.done, name);
        is_shown = is_shown || std::ranges::any_of(series, [](const Observation& one) { return one.value != 0; });
        cells.push_back(series.empty() ? "-" : figure_text(name, median(series), style_.glyphs));
      }
      if (is_shown) table.add(std::move(cells));
    }
    return table.empty() ? "" : "\n" + table.text(style_);
  }

 private:
  [[nodiscard]] std::string configuration(const StatRow& row) const {
    return util::printable(sweep_.configurations[row.cell.configuration].name);
  }
  [[nodiscard]] std::string warning(const StatRow& row, const std::string& remark) const {
    return style_.warning(note(configuration(row) + ": " + remark, style_));
  }

  [[nodiscard]] std::string table(const std::string& name) const {
    const bool has_base = std::ranges::any_of(rows_, [&](const StatRow& row) { return row.overhead.contains(name); });
    std::vector<std::string> titles = {name, "n", "median", "mean", "sd", "95 % interval"};
    if (has_base) titles.emplace_back("overhead");
    report::TextTable table(titles);
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found == row.figures.end()) continue;
      const Description& d = found->second;
      const auto value = [&](double one) { return figure_text(name, one, style_.glyphs); };
      std::vector<std::string> cells = {configuration(row),
                                        std::to_string(d.n),
                                        value(d.median),
                                        value(d.mean),
                                        d.n < 2 ? "-" : value(d.sd),
                                        d.interval ? range_text(name, *d.interval, style_.glyphs) : "-"};
      if (has_base) cells.push_back(overhead(row, name));
      table.add(std::move(cells));
    }
    return table.text(style_);
  }

  [[nodiscard]] static std::string overhead(const StatRow& row, const std::string& name) {
    const auto found = row.overhead.find(name);
    if (found == row.overhead.end() || !std::isfinite(found->second.difference)) return "";
    const Comparison& c = found->second;
    if (!has_interval(c)) return change_text(c.difference);
    return fmt::format("{} ({})", change_text(c.difference), changes_text(c.low, c.high));
  }

  // "interval: of the geometric mean by t, logs"; if it is not the same for all configurations, with their names.
  [[nodiscard]] std::string methods(const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> intervals, overheads;
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found != row.figures.end() && found->second.interval) {
        const Description& d = found->second;
        intervals.emplace_back(configuration(row),
                               fmt::format("of the {} by {}", centre_of(d).name, method_name(d.method)));
      }
      const auto cost = row.overhead.find(name);
      if (cost != row.overhead.end() && has_interval(cost->second)) {
        const std::string base = sweep_.configurations[row.base->configuration].name;
        overheads.emplace_back(configuration(row),
                               fmt::format("{}, against {}", method_name(cost->second.method), util::printable(base)));
      }
    }
    return style_.dim(report::wrap("  interval: ", 4, by_method(intervals), style_)) +
           style_.dim(report::wrap("  overhead: ", 4, by_method(overheads), style_));
  }

  static std::vector<std::string> by_method(const std::vector<std::pair<std::string, std::string>>& all) {
    std::map<std::string, std::string> names;  // names of configurations, by method
    for (const auto& [name, method] : all) names[method] += (names[method].empty() ? "" : ", ") + name;
    std::vector<std::string> items;
    for (const auto& [method, list] : names) items.push_back(names.size() == 1 ? method : list + ": " + method);
    return items;
  }

  [[nodiscard]] std::string medians(const std::string& name) const {
    std::vector<std::string> items;
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found == row.figures.end() || !found->second.median_interval) continue;
      items.push_back(configuration(row) + " " + range_text(name, *found->second.median_interval, style_.glyphs));
    }
    return style_.dim(report::wrap("  median, 95 % by BCa: ", 4, items, style_));
  }

  [[nodiscard]] std::string drifts(const std::string& name) const {
    std::vector<std::string> items;
    for (const StatRow& row : rows_) {
      const auto found = row.figures.find(name);
      if (found == row.figures.end() || !found->second.drift) continue;
      items.push_back(configuration(row) + " " + drift_text(*found->second.drift));
    }
    std::vector<Series> all;
    for (const StatRow& row : rows_) all.push_back(series_of(row.cell.done, name));
    if (const auto drift = common_drift(all)) items.insert(items.begin(), "of the machine " + drift_text(*drift));
    return style_.dim(report::wrap("  drift: ", 4, items, style_));
  }

  const Sweep& sweep_;
  StatRows rows_;
  const TextStyle& style_;
};

}  // namespace

std::string sweep_head(const Sweep& sweep, const TextStyle& style) {
  size_t done = 0, failed = 0, all = 0;
  for (const Cell& cell : cells_of(sweep)) {
    done += cell.done.size();
    failed += cell.failed.size();
    all += cell.runs();
  }
  std::vector<std::string> items = {
      fmt::format("{}{}{}", util::counted(int64_t(sweep.configurations.size()), "configuration"),
                  style.glyphs.pick(" × ", " x "), util::counted(int64_t(sweep.workloads.size()), "workload")),
      fmt::format("{} of {} done", util::count_text(int64_t(done)), util::counted(int64_t(all), "run"))};
  if (failed > 0) items.push_back(fmt::format("{} failed", failed));
  items.emplace_back(sweep.order == Order::kBlocks ? "in blocks, random order" : "in sequence");
  return report::wrap(style.bold(util::printable(sweep.folder)) + "  ", 2, items, style);
}

std::string stat_text(const Sweep& sweep, const Statistics& all, const TextStyle& style) {
  std::string out = sweep_head(sweep, style);
  for (const std::string& warning : all.warnings) out += style.warning(note(warning, style));
  std::vector<std::string> others;
  for (const std::string& name : figure_names(sweep)) {
    if (std::ranges::find(all.figures, name) == all.figures.end()) others.push_back(name);
  }
  if (const auto outside = runs_outside(sweep); !outside.empty()) {
    std::map<int32_t, std::string> lines;  // by position of the run
    for (const auto& [run, found] : outside) {
      lines[run->planned.position] =
          fmt::format("{}: {}", util::printable(run->planned.folder), outside_text(*run, found, style.glyphs));
    }
    out += "\n" + style.bold("runs outside of the others") + "\n";
    for (const auto& [position, line] : lines) out += note(line, style);
  }
  for (size_t from = 0; from < all.rows.size();) {
    size_t to = from;
    while (to < all.rows.size() && all.rows[to].cell.workload == all.rows[from].cell.workload) ++to;
    const WorkloadText workload(sweep, StatRows(all.rows).subspan(from, to - from), style);
    const std::string key = util::printable(sweep.workloads[all.rows[from].cell.workload].key);
    out += "\n" + style.bold(report::cut_end(key, style.width, style.glyphs)) + "\n";
    out += workload.remarks();
    for (const std::string& figure : all.figures) out += workload.figure(figure);
    out += workload.others(others);
    from = to;
  }
  return out;
}

}  // namespace mlrun::sweep
