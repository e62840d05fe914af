// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_answer.h"

#include <sstream>
#include <string>

#include "runner/report/json/json_row.h"
#include "runner/report/json/json_values.h"
#include "runner/summary/slow_steps.h"
#include "runner/summary/tables/answer_rows.h"
#include "runner/summary/tables/values.h"

namespace mlrun::report {
namespace {

using Json = nlohmann::ordered_json;

Json share_of(int64_t ns, int64_t wall_ns) { return wall_ns > 0 ? Json(double(ns) / double(wall_ns)) : Json(); }

Json finding_json(const summary::Finding& finding, int64_t wall_ns) {
  Json out = row_json(finding);
  out["also"] = Json::array();
  std::istringstream names(finding.also);
  for (std::string name; std::getline(names, name, ',');) out["also"].push_back(name);
  out["share"] = share_of(finding.explains_ns, wall_ns);
  return out;
}

Json steps_json(const summary::Answer& answer) {
  constexpr size_t kListed = 10;
  if (answer.steps == 0) {
    const std::string why = summary::no_steps_text(answer);
    return {{"count", answer.steps},
            {"from", Json()},
            {"sure", Json()},
            {"median_ns", Json()},
            {"slow", 0},
            {"slowest", Json::array()},
            {"why_unknown", why.empty() ? Json() : Json(why)}};
  }
  const summary::SlowSteps slow = summary::slow_steps(answer, kListed);
  return {{"count", answer.steps},
          {"from", summary::steps_from_name(answer)},
          {"sure", double(answer.steps_sure_ppm) / 1e6},
          {"median_ns", slow.median_ns},
          {"slow", slow.count},
          {"slowest", array(slow.first,
                            [](const summary::SlowStep& one) {
                              Json out = row_json(*one.step);
                              out["longer"] = one.part;
                              out["longer_by_ns"] = one.above_ns;
                              return out;
                            })},
          {"why_unknown", Json()}};
}

}  // namespace

void add_answer(const summary::Answer& answer, Json& out) {
  if (answer.wall_ns == 0) {
    for (const char* key : {"driver", "time", "without_batch_ns", "startup", "findings", "waited_for", "steps"})
      out[key] = Json();
    return;
  }
  const int64_t wall_ns = answer.wall_ns;
  out["driver"] = places({"thread_id", "tid", "pid", "wall_ns", "samples", "waiting_ns"});
  out["time"] = array(answer.time, [&](const summary::TimeShare& one) {
    Json row = row_json(one);
    row["share"] = share_of(one.ns, wall_ns);
    return row;
  });
  out.update(places(
      {"without_batch_ns", "without_batch_low_ns", "without_batch_high_ns", "batches_from_ns", "batches_to_ns"}));
  summary::visit_values_of_answer(answer, JsonValues{out});
  out["startup"]["share"] = share_of(answer.startup_ns, wall_ns);
  out["findings"] =
      array(answer.findings, [&](const summary::Finding& finding) { return finding_json(finding, wall_ns); });
  out["waited_for"] = rows_json(answer.waited_for);
  out["steps"] = steps_json(answer);
}

}  // namespace mlrun::report
