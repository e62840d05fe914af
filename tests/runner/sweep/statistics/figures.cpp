// SPDX-License-Identifier: Apache-2.0
// Prints what runner/sweep/statistics computes, for against_scipy.py. Input: a JSON array of tasks; output: an array of the answers.
#include <algorithm>
#include <iostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/sweep/statistics/bootstrap.h"
#include "runner/sweep/statistics/change_points.h"
#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {
namespace {

using Json = nlohmann::json;

Series series_of(const Json& values) {
  Series series;
  for (const Json& value : values) {
    const auto position = static_cast<int32_t>(series.size());
    series.push_back({position, position, value});
  }
  return series;
}

Json describe_task(const Json& task) {
  const Description d = describe(series_of(task["values"]), task["level"]);
  return {{"mean", d.mean},
          {"sd", d.sd},
          {"median", d.median},
          {"low", d.interval->low},
          {"high", d.interval->high},
          {"method", method_name(d.method)},
          {"slope", d.drift->slope},
          {"slope_low", d.drift->interval.low},
          {"slope_high", d.drift->interval.high}};
}

Json compare_task(const Json& task) {
  const Comparison c = compare(series_of(task["a"]), series_of(task["b"]),
                               {.level = task["level"], .margin = task["margin"], .by_block = task["by_block"]});
  return {{"difference", c.difference},     {"low", c.low}, {"high", c.high}, {"p", c.p}, {"equal_p", c.equal_p},
          {"method", method_name(c.method)}};
}

Json bca_task(const Json& task) {
  std::vector<double> sorted = task["values"];
  std::sort(sorted.begin(), sorted.end());
  std::vector<Ranks> ranks;
  for (const Json& resample : task["resamples"]) {
    std::vector<uint32_t> indices = resample;
    ranks.push_back(ranks_of(indices, task["quantile"]));
  }
  const Interval interval = bca_interval(sorted, task["quantile"], ranks, task["level"]);
  return {{"low", interval.low}, {"high", interval.high}};
}

Json holm_task(const Json& task) {
  std::vector<Comparison> question;
  for (const Json& p : task["p"]) {
    Comparison comparison;
    comparison.p = p;
    comparison.equal_p = p;
    question.push_back(comparison);
  }
  correct_for_number(question);
  Json adjusted = Json::array();
  for (const Comparison& comparison : question) adjusted.push_back(comparison.adjusted_p);
  return adjusted;
}

Json change_task(const Json& task) {
  const std::vector<double> values = task["values"];
  Json points = Json::array();
  for (const ChangePoint& point : change_points(values, {.least_change = task["least_change"]})) {
    points.push_back({{"index", point.index}, {"before", point.before}, {"after", point.after}, {"p", point.p}});
  }
  return points;
}

Json answer(const Json& task) {
  const std::string kind = task["task"];
  if (kind == "describe") return describe_task(task);
  if (kind == "compare") return compare_task(task);
  if (kind == "bca") return bca_task(task);
  if (kind == "holm") return holm_task(task);
  return change_task(task);
}

}  // namespace
}  // namespace mlrun::sweep

int main() {
  const nlohmann::json tasks = nlohmann::json::parse(std::cin);
  nlohmann::json answers = nlohmann::json::array();
  for (const nlohmann::json& task : tasks) answers.push_back(mlrun::sweep::answer(task));
  std::cout << answers << '\n';
}
