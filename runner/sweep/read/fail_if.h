// SPDX-License-Identifier: Apache-2.0
// Conditions for CI: "wall > +3 %" fails when the figure surely became more than 3 % larger.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/sweep/read/compared.h"

namespace mlrun::sweep {

// "+3 %", "3%": as a fraction.
Result<double> parse_percent(std::string_view text);

struct Condition {
  std::string text;    // as it was given
  std::string figure;  // full name of a compared figure
  bool is_above = true;
  double limit = 0;  // as a fraction of side a's value
};

// FIGURE > PERCENT % or FIGURE < PERCENT %.
Result<Condition> parse_condition(const std::string& text, const std::vector<std::string>& known);

enum class Outcome { kPasses, kFails, kUndecided };
const char* outcome_name(Outcome outcome);  // passes, fails, undecided

// kFails: the whole interval of the difference meets the condition; kPasses: no part of it does; else kUndecided.
Outcome outcome_of(const Condition& condition, const Comparison& comparison);

// The result of one condition for one pair of cells. A pair without the figure, as when all runs of a side failed, is undecided.
struct Judged {
  const Condition* condition = nullptr;
  const CellPair* pair = nullptr;
  const Comparison* comparison = nullptr;  // nullptr: one side does not have the figure
  Outcome outcome = Outcome::kUndecided;
};
std::vector<Judged> judge(const std::vector<Condition>& conditions, const Compared& compared);

// 1 where one fails, else 2 where one is undecided, else 0.
int exit_status_of(const std::vector<Judged>& judged);

}  // namespace mlrun::sweep
