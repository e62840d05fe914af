// SPDX-License-Identifier: Apache-2.0
// `mlrun sweep stat OUT`: figures of each configuration and workload with their intervals, and what each configuration costs.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/report/text/terminal.h"
#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/heimdallr.h"
#include "runner/sweep/read/json_values.h"
#include "runner/sweep/read/outside.h"
#include "runner/sweep/read/stat_text.h"
#include "runner/sweep/verbs.h"

namespace mlrun::sweep {
namespace {

constexpr const char* kStatFooter =
    "Examples:\n"
    "  mlrun sweep stat results\n"
    "  mlrun sweep stat results --figure io --figure max_rss\n"
    "  mlrun sweep stat results --json | jq '.rows[] | [.configuration, .figures.wall_s.median]'\n"
    "  mlrun sweep stat results --format heimdallr > times.csv\n"
    "\n"
    "JSON: {rows: [{configuration, workload, n, failed, figures: {wall_s: {n, median, mean, sd, low, high, method, "
    "min, max, "
    "median_low, median_high, drift, bimodal}, ...}, overhead: {against, figures: {wall_s: {difference, low, high, "
    "...}}}, "
    "remarks}], warnings, outside: [{folder, configuration, workload, block, wall_s, usual_s, difference, hints: "
    "[{figure, cause, "
    "value, usual, weight}]}]}, null where unknown. outside: runs whose time is unlike that of the others.";

Json stat_json(const Sweep& sweep, const Statistics& all) {
  Json rows = Json::array(), outside = Json::array();
  for (const auto& [run, found] : runs_outside(sweep)) {
    Json line = {{"folder", run->planned.folder},
                 {"configuration", sweep.configurations[run->planned.configuration].name},
                 {"workload", sweep.workloads[run->planned.workload].key},
                 {"block", run->planned.block},
                 {"wall_s", run->figures.at("wall_s")}};
    line.update(json_of(found));
    outside.push_back(std::move(line));
  }
  for (const StatRow& row : all.rows) {
    Json figures = Json::object(), overhead;
    for (const std::string& name : all.figures) {
      const auto found = row.figures.find(name);
      if (found != row.figures.end()) figures[name] = json_of(found->second);
    }
    if (row.base != nullptr) {
      overhead = {{"against", sweep.configurations[row.base->configuration].name}, {"figures", Json::object()}};
      for (const auto& [name, comparison] : row.overhead) overhead["figures"][name] = json_of(comparison);
    }
    rows.push_back({{"configuration", sweep.configurations[row.cell.configuration].name},
                    {"workload", sweep.workloads[row.cell.workload].key},
                    {"n", row.cell.done.size()},
                    {"failed", row.cell.failed.size()},
                    {"left", row.cell.left},
                    {"figures", std::move(figures)},
                    {"overhead", std::move(overhead)},
                    {"remarks", row.remarks}});
  }
  return {{"rows", std::move(rows)}, {"warnings", all.warnings}, {"outside", std::move(outside)}};
}

}  // namespace

Result<int> stat(const Arguments& arguments) {
  std::string folder, format;
  std::vector<std::string> wanted;
  bool as_json = false;
  CLI::App app("Prints figures of each configuration and workload of a sweep, with intervals.", "sweep stat");
  set_usage(app, "mlrun sweep stat [OPTIONS] OUT");
  app.footer(kStatFooter);
  app.add_option("OUT", folder, "folder of the sweep")->required();
  app.add_option("--figure", wanted,
                 "show this figure; may be given again (default: those of the plan's question, else wall_s)")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--format", format, "heimdallr: CSV of times, as --stat of heimdallr prints it (default: text)")
      ->check(CLI::IsMember({"text", "heimdallr"}));
  app.add_flag("--json", as_json, "as JSON, all figures (default: off)")->excludes("--format");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto sweep = open_sweep(folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  const auto chosen = find_figures(wanted, figure_names(*sweep), "--figure");
  if (!chosen) return tl::make_unexpected(chosen.error());
  if (format == "heimdallr") {
    fmt::print("{}", heimdallr_stat(*sweep));
  } else if (as_json) {
    fmt::print("{}", json_text(stat_json(*sweep, statistics_of(*sweep, *chosen))));
  } else {
    const std::vector<std::string>& figures = chosen->empty() ? question_of(*sweep) : *chosen;
    fmt::print("{}", stat_text(*sweep, statistics_of(*sweep, figures), report::style_of(stdout)));
  }
  return 0;
}

}  // namespace mlrun::sweep
