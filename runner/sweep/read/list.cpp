// SPDX-License-Identifier: Apache-2.0
// `mlrun sweep list OUT`: the runs of a sweep.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/report/text/terminal.h"
#include "runner/report/text/text_table.h"
#include "runner/sweep/read/heimdallr.h"
#include "runner/sweep/read/json_values.h"
#include "runner/sweep/read/outside.h"
#include "runner/sweep/read/quantity.h"
#include "runner/sweep/read/stat_text.h"
#include "runner/sweep/verbs.h"
#include "runner/util/clock.h"

namespace mlrun::sweep {
namespace {

constexpr const char* kListFooter =
    "Examples:\n"
    "  mlrun sweep list results\n"
    "  mlrun sweep list results --json | jq '.runs[] | select(.state == \"failed\").path'\n"
    "  mlrun sweep list results --format heimdallr\n"
    "\n"
    "JSON: {runs: [{folder, configuration, workload, block, position, attempt, state: "
    "planned|running|done|failed|timed_out, "
    "exit_status, wall_s, started (UTC), failure, path, figures, machine, facts}]}, null where unknown. folder is "
    "the name "
    "below OUT/runs, path includes OUT/runs.";

std::string run_path(const Sweep& sweep, const RunRow& run) {
  return (std::filesystem::path(sweep.folder) / "runs" / run.planned.folder).lexically_normal().string();
}

Json run_json(const Sweep& sweep, const RunRow& run, const OutsideRun* outside) {
  const auto wall = run.figures.find("wall_s");
  return {{"folder", run.planned.folder},
          {"configuration", sweep.configurations[run.planned.configuration].name},
          {"workload", sweep.workloads[run.planned.workload].key},
          {"block", run.planned.block},
          {"position", run.planned.position},
          {"attempt", run.attempt},
          {"state", state_name(run.state)},
          {"exit_status", run.exit_status ? Json(*run.exit_status) : Json()},
          {"wall_s", wall == run.figures.end() ? Json() : Json(wall->second)},
          {"started", run.started_realtime_ns > 0 ? Json(util::utc_text(run.started_realtime_ns)) : Json()},
          {"failure", run.failure.empty() ? Json() : Json(run.failure)},
          {"path", run_path(sweep, run)},
          {"figures", run.figures},
          {"machine", run.machine},
          {"facts", run.facts},
          {"outside", outside == nullptr ? Json() : json_of(*outside)}};
}

std::string runs_json(const Sweep& sweep) {
  Json runs = Json::array();
  const auto outside = runs_outside(sweep);
  for (const RunRow& run : sweep.runs) {
    const auto found = outside.find(&run);
    runs.push_back(run_json(sweep, run, found == outside.end() ? nullptr : &found->second));
  }
  return json_text({{"runs", std::move(runs)}});
}

// "failed", "failed, try 2".
std::string state_text(const RunRow& run) {
  const std::string state = run.state == RunState::kTimedOut ? "too long" : state_name(run.state);
  return run.attempt > 1 ? fmt::format("{}, try {}", state, run.attempt) : state;
}

std::string runs_text(const Sweep& sweep, const report::TextStyle& style) {
  report::TextTable table({"RUN", "configuration", "block", "state", "exit", "wall"}, report::TextTable::Cut::kFront);
  const auto outside = runs_outside(sweep);
  for (const RunRow& run : sweep.runs) {
    const auto wall = run.figures.find("wall_s");
    table.add({util::printable(run.planned.folder),
               util::printable(sweep.configurations[run.planned.configuration].name), std::to_string(run.planned.block),
               state_text(run), run.exit_status ? std::to_string(*run.exit_status) : "-",
               wall == run.figures.end() ? "-" : figure_text("wall_s", wall->second, style.glyphs)});
    if (const auto found = outside.find(&run); found != outside.end()) {
      table.add_note("  " + outside_text(run, found->second, style.glyphs));
    }
    if (!run.failure.empty()) {
      const std::string errors = report::shell_word(run_path(sweep, run) + "/error.log");
      table.add_note(fmt::format("  {}; see {}", util::printable(run.failure), util::printable(errors)));
    }
  }
  return sweep_head(sweep, style) + "\n" + table.text(style);
}

}  // namespace

Result<int> list(const Arguments& arguments) {
  std::string folder, format;
  bool as_json = false;
  CLI::App app("Lists the runs of a sweep in the order in which they are made.", "sweep list");
  set_usage(app, "mlrun sweep list [OPTIONS] OUT");
  app.footer(kListFooter);
  app.add_option("OUT", folder, "folder of the sweep")->required();
  app.add_option("--format", format,
                 "heimdallr: a line for each program and mode, as --list of heimdallr prints it (default: text)")
      ->check(CLI::IsMember({"text", "heimdallr"}));
  app.add_flag("--json", as_json, "as JSON (default: off)")->excludes("--format");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto sweep = open_sweep(folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  if (format == "heimdallr") {
    fmt::print("{}", heimdallr_list(*sweep));
  } else {
    fmt::print("{}", as_json ? runs_json(*sweep) : runs_text(*sweep, report::style_of(stdout)));
  }
  return 0;
}

}  // namespace mlrun::sweep
