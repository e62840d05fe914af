// SPDX-License-Identifier: Apache-2.0
// Names that trainings give to the ranges of their steps.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace mlrun::model {

// Whether a name is that of a step, in any case, with or without a number at its end: step, iteration, iter, batch, one of these after train or
// training, global_step, ProfilerStep.
[[nodiscard]] inline bool is_step_name(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {"step",  "iteration",   "iter",
                                                             "batch", "global step", "profilerstep"};
  constexpr size_t kLongest = 64;
  constexpr std::string_view kNumber = "0123456789 #:=_-";
  if (name.size() > kLongest) return false;
  const size_t end = name.find_last_not_of(kNumber);
  std::string text(name.substr(0, end == std::string_view::npos ? 0 : end + 1));
  for (char& c : text) c = c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view last = text;
  for (const std::string_view of : {std::string_view("train "), std::string_view("training ")}) {
    if (text.starts_with(of)) last.remove_prefix(of.size());
  }
  return std::find(kNames.begin(), kNames.end(), last) != kNames.end();
}

}  // namespace mlrun::model
