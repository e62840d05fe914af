// SPDX-License-Identifier: Apache-2.0
// Plans as texts, and the lines that a bad one gives.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/plan/read_plan.h"

namespace mlrun::sweep {

inline const std::string kGoodConfigurations =
    "[[configuration]]\nname = \"dry\"\ndry = true\n[[configuration]]\nname = \"mlrun\"\n";

// A good plan with `lines` before its configurations, which begin in the line after them.
inline std::string plan_text(const std::string& lines) { return lines + kGoodConfigurations; }

// The lines that mlrun prints, without "mlrun: ".
inline std::vector<std::string> faults_of(const std::string& text) {
  const auto plan = parse_plan(text, "plan.toml");
  if (plan) return {};
  std::vector<std::string> lines = {plan.error().text};
  std::string below = plan.error().below;
  for (size_t end = below.find('\n'); end != std::string::npos; end = below.find('\n')) {
    lines.push_back(below.substr(7, end - 7));
    below.erase(0, end + 1);
  }
  return lines;
}

}  // namespace mlrun::sweep
