// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/fail_if.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "runner/sweep/read/figure_choice.h"
#include "runner/sweep/read/quantity.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::sweep {
namespace {

tl::unexpected<Error> wrong(const std::string& text, const std::string& why) {
  return fail(fmt::format("--fail-if '{}': {}; write for instance 'wall > +3 %'", text, why));
}

}  // namespace

Result<double> parse_percent(std::string_view text) {
  text = util::trimmed(text);
  if (!text.ends_with('%')) return fail(fmt::format("'{}' has no unit; the unit is %", text));
  const std::string_view number = util::trimmed(text.substr(0, text.size() - 1));
  const std::string_view digits = number.starts_with('+') ? number.substr(1) : number;
  const auto percent = util::real_number(digits);
  if (!percent || !std::isfinite(*percent) || number.starts_with("+-"))
    return fail(fmt::format("'{}' is not a percentage", text));
  return *percent / 100;
}

Result<Condition> parse_condition(const std::string& text, const std::vector<std::string>& known) {
  const size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos) return wrong(text, "there is no > or < in it");
  const std::string name(util::trimmed(std::string_view(text).substr(0, sign)));
  if (name.empty()) return wrong(text, "no figure is named before the " + text.substr(sign, 1));
  const auto limit = parse_percent(std::string_view(text).substr(sign + 1));
  if (!limit) return wrong(text, limit.error().text);
  auto figure = find_figure(name, known, fmt::format("--fail-if '{}'", text));
  if (!figure) return tl::make_unexpected(figure.error());
  return Condition{text, std::move(*figure), text[sign] == '>', *limit};
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPasses: return "passes";
    case Outcome::kFails: return "fails";
    case Outcome::kUndecided: return "undecided";
  }
  return "";
}

Outcome outcome_of(const Condition& condition, const Comparison& comparison) {
  if (!has_interval(comparison)) return Outcome::kUndecided;
  const bool all_right = condition.is_above ? comparison.high <= condition.limit : comparison.low >= condition.limit;
  const bool all_wrong = condition.is_above ? comparison.low > condition.limit : comparison.high < condition.limit;
  return all_right ? Outcome::kPasses : all_wrong ? Outcome::kFails : Outcome::kUndecided;
}

std::vector<Judged> judge(const std::vector<Condition>& conditions, const Compared& compared) {
  std::vector<Judged> judged;
  for (const Condition& condition : conditions) {
    for (size_t i = 0; i < compared.pairs.size(); ++i) {
      const auto row = std::ranges::find_if(
          compared.rows, [&](const ComparedRow& each) { return each.pair == i && each.figure == condition.figure; });
      Judged& one = judged.emplace_back(&condition, &compared.pairs[i]);
      if (row == compared.rows.end()) continue;
      one.comparison = &row->comparison;
      one.outcome = outcome_of(condition, row->comparison);
    }
  }
  return judged;
}

int exit_status_of(const std::vector<Judged>& judged) {
  const auto has = [&](Outcome outcome) {
    return std::ranges::find(judged, outcome, &Judged::outcome) != judged.end();
  };
  return has(Outcome::kFails) ? 1 : has(Outcome::kUndecided) ? 2 : 0;
}

}  // namespace mlrun::sweep
