// SPDX-License-Identifier: Apache-2.0
// `mlrun compare A B` and `mlrun sweep compare OUT`: differences with their intervals, and one of three verdicts for each.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/report/text/terminal.h"
#include "runner/sweep/read/compare_text.h"
#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/json_values.h"
#include "runner/sweep/verbs.h"

namespace mlrun::sweep {
namespace {

constexpr const char* kCompareFooter =
    "Examples:\n"
    "  mlrun compare before after                      two sweeps: each configuration and workload of both\n"
    "  mlrun compare results:dry results:full          two configurations of a sweep\n"
    "  mlrun compare mlrun-train-1 mlrun-train-2       two traces, side by side\n"
    "  mlrun sweep compare results                     all configurations against the dry one, else the first\n"
    "  mlrun compare before after --fail-if 'wall > +3 %' --fail-if 'max_rss > +10 %'\n"
    "\n"
    "A is the base. Verdicts: differs by x % (95 % interval); equal within the margin; cannot tell, with the runs that "
    "would be "
    "needed. Verdicts on the figures of the plan's question are corrected for their number, all others are "
    "exploratory.\n"
    "Exit status with --fail-if: 0 if no condition holds, 1 if one holds for the whole interval, 2 if a limit is "
    "within "
    "its interval, 125 for an error.\n"
    "JSON: {rows: [{configuration, base, workload, figure, question, a, b, difference, low, high, verdict: "
    "differs|equal|cannot_tell, margin, needs_runs, n_a, n_b, pairs, method}], warnings, conditions}; difference, low, "
    "high and "
    "margin are fractions of a, null where unknown.";

struct CompareWords {
  std::string a, b, base, margin;
  std::vector<std::string> figures, conditions;
  bool as_json = false;
};

void add_options(CLI::App& app, CompareWords& words) {
  const auto take_all = CLI::MultiOptionPolicy::TakeAll;
  app.add_option("A", words.a, "a sweep, OUT:CONFIGURATION, or a trace; the base")->required();
  app.add_option("B", words.b, "what is compared with A (default: the configurations of the sweep A with each other)");
  app.add_option("--base", words.base,
                 "of one sweep: the configuration that the others are compared with (default: the dry one, "
                 "else the first)")
      ->type_name("NAME")
      ->excludes("B");
  app.add_option("--margin", words.margin,
                 "differences within it count as equal (default: the plan's, 3 % where it has none)")
      ->type_name("PERCENT");
  app.add_option("--figure", words.figures, "show this figure; may be given again (default: all)")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(take_all);
  app.add_option("--fail-if", words.conditions,
                 "exit with 1 if CONDITION holds: FIGURE > PERCENT % or FIGURE < PERCENT %; may be "
                 "given again (default: none)")
      ->type_name("CONDITION")
      ->expected(1)
      ->multi_option_policy(take_all);
  app.add_flag("--json", words.as_json, "as JSON (default: off)");
}

// Both sides and their comparison, which points into them.
struct Opened {
  Side a, b;
  Compared compared;
};

Result<std::optional<double>> margin_of(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  const auto margin = parse_percent(text);
  if (!margin) return fail("--margin: " + margin.error().text + "; write for instance --margin 5%");
  if (!(*margin > 0) || *margin >= 1) return fail("--margin: '" + text + "' is not between 0 and 100 %");
  return *margin;
}

Status open(const CompareWords& words, Opened& opened) {
  const auto margin = margin_of(words.margin);
  if (!margin) return tl::make_unexpected(margin.error());
  auto a = open_side(words.a);
  if (!a) return tl::make_unexpected(a.error());
  opened.a = std::move(*a);
  if (words.b.empty() && (opened.a.is_trace || opened.a.configuration)) {
    return fail(words.a + ": there is nothing to compare it with; give a second one: mlrun compare A B");
  }
  if (!words.b.empty()) {
    auto b = open_side(words.b);
    if (!b) return tl::make_unexpected(b.error());
    opened.b = std::move(*b);
  }
  auto compared = words.b.empty() ? compare_within(opened.a.sweep, words.base, *margin)
                                  : compare_sides(opened.a, opened.b, *margin);
  if (!compared) return tl::make_unexpected(compared.error());
  opened.compared = std::move(*compared);
  return {};
}

std::vector<std::string> compared_figures(const Compared& compared) {
  std::vector<std::string> names;
  for (const ComparedRow& row : compared.rows) {
    if (std::ranges::find(names, row.figure) == names.end()) names.push_back(row.figure);
  }
  return names;
}

Json compare_json(const Compared& compared, const std::vector<std::string>& figures,
                  const std::vector<Judged>& judged) {
  Json rows = Json::array(), conditions = Json::array();
  for (const ComparedRow& row : compared.rows) {
    if (!figures.empty() && std::ranges::find(figures, row.figure) == figures.end()) continue;
    const CellPair& pair = compared.pairs[row.pair];
    Json line = {{"configuration", pair.configuration},
                 {"base", pair.base},
                 {"workload", pair.workload},
                 {"figure", row.figure},
                 {"question", row.is_question}};
    line.update(json_of(row.comparison));
    rows.push_back(std::move(line));
  }
  for (const Judged& one : judged) {
    conditions.push_back({{"condition", one.condition->text},
                          {"configuration", one.pair->configuration},
                          {"base", one.pair->base},
                          {"workload", one.pair->workload},
                          {"outcome", outcome_name(one.outcome)}});
  }
  return {{"rows", std::move(rows)}, {"warnings", compared.warnings}, {"conditions", std::move(conditions)}};
}

}  // namespace

Result<int> compare(const Arguments& arguments) {
  CompareWords words;
  CLI::App app("Says what differs between two sweeps, configurations or traces.", "compare");
  set_usage(app, "mlrun compare [OPTIONS] A B\n       mlrun sweep compare [OPTIONS] OUT");
  app.footer(kCompareFooter);
  add_options(app, words);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  Opened opened;
  if (Status known = open(words, opened); !known) return tl::make_unexpected(known.error());
  const Compared& compared = opened.compared;
  const std::vector<std::string> known = compared_figures(compared);
  const auto figures = find_figures(words.figures, known, "--figure");
  if (!figures) return tl::make_unexpected(figures.error());
  std::vector<Condition> conditions;
  for (const std::string& text : words.conditions) {
    auto condition = parse_condition(text, known);
    if (!condition) return tl::make_unexpected(condition.error());
    conditions.push_back(std::move(*condition));
  }
  const std::vector<Judged> judged = judge(conditions, compared);
  fmt::print("{}", words.as_json ? json_text(compare_json(compared, *figures, judged))
                                 : compare_text(compared, *figures, judged, report::style_of(stdout)));
  return exit_status_of(judged);
}

}  // namespace mlrun::sweep
