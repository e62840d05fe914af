// SPDX-License-Identifier: Apache-2.0
// `mlrun sweep history DIR...`: one figure over sweeps of several commits, and where its level changes.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/report/text/terminal.h"
#include "runner/report/text/text_table.h"
#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/json_values.h"
#include "runner/sweep/read/past.h"
#include "runner/sweep/read/picture.h"
#include "runner/sweep/read/quantity.h"
#include "runner/sweep/verbs.h"

namespace mlrun::sweep {
namespace {

constexpr const char* kHistoryFooter =
    "Examples:\n"
    "  mlrun sweep history nightly                  all sweeps in a folder\n"
    "  mlrun sweep history nightly/* --figure io --configuration full\n"
    "  mlrun sweep history nightly --json | jq '.series[].changes'\n"
    "\n"
    "A change point is where the level of the means changes (E-divisive means, t test at 0.1 %); it needs several "
    "sweeps on both "
    "sides.\n"
    "JSON: {figure, series: [{configuration, workload, points: [{folder, commit, created_ns, n, median, mean, sd, low, "
    "high, "
    "method, ...}], changes: [{index, folder, commit, before, after, change, p}]}]}; index is that of the first point "
    "of the new "
    "level.";

constexpr size_t kCommitDigits = 10;

Json history_json(const std::string& figure, const std::vector<PastSeries>& all) {
  Json series = Json::array();
  for (const PastSeries& one : all) {
    Json points = Json::array(), changes = Json::array();
    const auto commit = [&](size_t index) {
      return one.points[index].commit.empty() ? Json() : Json(one.points[index].commit);
    };
    for (size_t i = 0; i < one.points.size(); ++i) {
      Json point = {
          {"folder", one.points[i].folder}, {"commit", commit(i)}, {"created_ns", one.points[i].created_realtime_ns}};
      point.update(json_of(one.points[i].description));
      points.push_back(std::move(point));
    }
    for (const ChangePoint& change : one.changes) {
      changes.push_back({{"index", change.index},
                         {"folder", one.points[change.index].folder},
                         {"commit", commit(change.index)},
                         {"before", change.before},
                         {"after", change.after},
                         {"change", change.after / change.before - 1},
                         {"p", change.p}});
    }
    series.push_back({{"configuration", one.configuration},
                      {"workload", one.workload},
                      {"points", std::move(points)},
                      {"changes", std::move(changes)}});
  }
  return {{"figure", figure}, {"series", std::move(series)}};
}

std::string level_text(const ChangePoint& change) {
  return change.before == 0 ? "from 0" : change_text(change.after / change.before - 1);
}

std::string series_text(const std::string& figure, const PastSeries& one, const report::TextStyle& style) {
  const auto value_text = [&](double value) { return figure_text(figure, value, style.glyphs); };
  const std::string head = one.configuration + ", " + one.workload;
  std::string out = style.bold(report::cut_end(util::printable(head), style.width, style.glyphs)) + "\n";
  report::TextTable table({"SWEEP", "commit", "made", "n", figure, "95 % interval", "change"},
                          report::TextTable::Cut::kFront);
  std::vector<NamedBar> levels;
  for (size_t i = 0; i < one.points.size(); ++i) {
    const PastPoint& point = one.points[i];
    const Description& d = point.description;
    const auto change = std::ranges::find(one.changes, i, &ChangePoint::index);
    const bool changes = change != one.changes.end();
    table.add({util::printable(point.folder), point.commit.empty() ? "-" : point.commit.substr(0, kCommitDigits),
               point.created_realtime_ns > 0 ? report::date_text(point.created_realtime_ns).substr(0, 10) : "-",
               std::to_string(d.n), value_text(d.mean),
               d.interval ? range_text(figure, *d.interval, style.glyphs) : "-", changes ? level_text(*change) : ""});
    levels.push_back({point.folder + (changes ? style.glyphs.pick(" ◀", " <") : ""), d.mean, d.interval});
  }
  out += table.text(style) + "\n" + bars(levels, std::nullopt, value_text, style);
  for (const ChangePoint& change : one.changes) {
    const PastPoint& point = one.points[change.index];
    const std::string commit = point.commit.empty() ? "" : " (commit " + point.commit.substr(0, kCommitDigits) + ")";
    out += style.warning(
        report::paragraph(fmt::format("changes at {}{}: {} to {}, {}", util::printable(point.folder), commit,
                                      value_text(change.before), value_text(change.after), level_text(change)),
                          2, 10, style));
  }
  if (one.changes.empty()) out += style.dim("  no change point\n");
  return out;
}

struct HistoryWords {
  std::vector<std::string> folders;
  std::string figure = "wall_s", configuration;
  bool as_given = false, as_json = false;
};

Result<std::vector<Sweep>> open_sweeps(const HistoryWords& words) {
  std::vector<Sweep> sweeps;
  for (const std::string& folder : sweep_folders(words.folders)) {
    auto sweep = open_sweep(folder);
    if (!sweep) return tl::make_unexpected(sweep.error());
    sweeps.push_back(std::move(*sweep));
  }
  if (!words.as_given) std::ranges::stable_sort(sweeps, {}, &Sweep::created_realtime_ns);
  return sweeps;
}

}  // namespace

Result<int> history(const Arguments& arguments) {
  HistoryWords words;
  CLI::App app("Shows a figure over sweeps of several commits, and where its level changes.", "sweep history");
  set_usage(app, "mlrun sweep history [OPTIONS] DIR...");
  app.footer(kHistoryFooter);
  app.add_option("DIR", words.folders, "sweeps, or folders that hold sweeps")->required();
  app.add_option("--figure", words.figure, "the figure (default: wall_s)")->type_name("NAME");
  app.add_option("--configuration", words.configuration, "only this configuration (default: all)")->type_name("NAME");
  app.add_flag("--as-given", words.as_given,
               "in the order of the arguments (default: by the time when they were made)");
  app.add_flag("--json", words.as_json, "as JSON (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto sweeps = open_sweeps(words);
  if (!sweeps) return tl::make_unexpected(sweeps.error());
  std::set<std::string> known, configurations;
  for (const Sweep& sweep : *sweeps) {
    for (const std::string& name : figure_names(sweep)) known.insert(name);
    for (const Configuration& each : sweep.configurations) configurations.insert(each.name);
  }
  const auto figure = find_figure(words.figure, {known.begin(), known.end()}, "--figure");
  if (!figure) return tl::make_unexpected(figure.error());
  if (!words.configuration.empty() && !configurations.contains(words.configuration)) {
    return fail(fmt::format("--configuration: no sweep has the configuration {}{}", words.configuration,
                            known_words(words.configuration, {configurations.begin(), configurations.end()})));
  }
  std::vector<PastSeries> all = past_of(*sweeps, *figure);
  if (!words.configuration.empty()) {
    std::erase_if(all, [&](const PastSeries& one) { return one.configuration != words.configuration; });
  }
  if (words.as_json) {
    fmt::print("{}", json_text(history_json(*figure, all)));
    return 0;
  }
  const report::TextStyle style = report::style_of(stdout);
  for (size_t i = 0; i < all.size(); ++i) fmt::print("{}{}", i == 0 ? "" : "\n", series_text(*figure, all[i], style));
  return 0;
}

}  // namespace mlrun::sweep
