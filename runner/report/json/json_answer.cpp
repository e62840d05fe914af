// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_answer.h"

#include <sstream>
#include <string>

#include "runner/report/json/json_values.h"
#include "runner/summary/slow_steps.h"

namespace mlrun::summary {
namespace {

using Json = nlohmann::ordered_json;

Json share_of(int64_t ns, int64_t wall_ns) { return wall_ns > 0 ? Json(double(ns) / double(wall_ns)) : Json(); }

Json finding_json(const Finding& finding, int64_t wall_ns) {
  const auto from_ppm = [](int64_t ppm) { return ppm < 0 ? Json() : Json(double(ppm) / 1e6); };
  Json also = Json::array();
  std::istringstream names(finding.also);
  for (std::string name; std::getline(names, name, ',');) also.push_back(name);
  return {{"cause", finding.cause},
          {"also", std::move(also)},
          {"claim", finding.claim},
          {"explains_ns", finding.explains_ns},
          {"share", share_of(finding.explains_ns, wall_ns)},
          {"low", from_ppm(finding.low_ppm)},
          {"high", from_ppm(finding.high_ppm)},
          {"measured_on", finding.measured_on},
          {"evidence", finding.evidence},
          {"command", finding.command},
          {"remedy", finding.remedy},
          {"at_most_saved_ns", known(finding.at_most_saved_ns, -1)},
          {"against", finding.against.empty() ? Json() : Json(finding.against)}};
}

Json waited_json(const WaitedFor& of) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"role", of.role},   {"thread", text(of.thread)}, {"proc_id", of.proc_id}, {"pid", of.pid},   {"tid", of.tid},
          {"doing", of.doing}, {"line", text(of.line)},     {"link", of.link},       {"time_ns", of.ns}};
}

Json steps_json(const Answer& answer) {
  constexpr size_t kListed = 10;
  if (answer.steps == 0) {
    const std::string why = no_steps_text(answer);
    return {{"count", 0},
            {"from", Json()},
            {"sure", Json()},
            {"median_ns", Json()},
            {"slow", 0},
            {"slowest", Json::array()},
            {"why_unknown", why.empty() ? Json() : Json(why)}};
  }
  const SlowSteps slow = slow_steps(answer, kListed);
  return {{"count", answer.steps},
          {"from", steps_from_name(answer)},
          {"sure", double(answer.steps_sure_ppm) / 1e6},
          {"median_ns", slow.median_ns},
          {"slow", slow.count},
          {"slowest", array(slow.first,
                            [](const SlowStep& one) {
                              return Json{{"step", one.step->step},
                                          {"start_ns", one.step->ts_ns},
                                          {"duration_ns", one.step->dur_ns},
                                          {"wait_ns", one.step->wait_ns},
                                          {"compute_ns", one.step->compute_ns},
                                          {"checkpoint_ns", one.step->checkpoint_ns},
                                          {"other_ns", one.step->other_ns},
                                          {"longer", one.part},
                                          {"longer_by_ns", one.above_ns}};
                            })},
          {"why_unknown", Json()}};
}

}  // namespace

void add_answer(const Answer& answer, Json& out) {
  if (answer.wall_ns == 0) {
    for (const char* key : {"driver", "time", "without_batch_ns", "startup", "findings", "waited_for", "steps"})
      out[key] = Json();
    return;
  }
  const int64_t wall_ns = answer.wall_ns;
  out["driver"] = {{"thread_id", answer.driver_thread_id},
                   {"tid", answer.driver_tid},
                   {"pid", answer.driver_pid},
                   {"wall_ns", wall_ns},
                   {"samples", answer.looks},
                   {"waiting_ns", answer.waiting_ns},
                   {"not_followed_ns", answer.not_followed_ns}};
  out["time"] = array(answer.time, [&](const TimeShare& one) {
    return Json{{"activity", kActivityNames[size_t(one.activity)]},
                {"state", kStateNames[size_t(one.state)]},
                {"ns", one.ns},
                {"share", share_of(one.ns, wall_ns)}};
  });
  out["without_batch_ns"] = known(answer.without_batch_ns, -1);
  out["without_batch_low_ns"] = known(answer.low_ns, -1);
  out["without_batch_high_ns"] = known(answer.high_ns, -1);
  out["batches_from_ns"] = known(answer.batches_from_ns, 0);
  out["batches_to_ns"] = known(answer.batches_to_ns, 0);
  out["startup"] = {{"explains_ns", answer.startup_ns}, {"share", share_of(answer.startup_ns, wall_ns)}};
  out["findings"] = array(answer.findings, [&](const Finding& finding) { return finding_json(finding, wall_ns); });
  out["waited_for"] = array(answer.waited_for, waited_json);
  out["steps"] = steps_json(answer);
}

}  // namespace mlrun::summary
