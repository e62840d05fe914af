// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/slow_steps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runner/util/median.h"

namespace mlrun::summary {

namespace {

struct Part {
  const char* name;
  int64_t StepRow::*ns;
};
constexpr Part kParts[] = {{"waiting", &StepRow::wait_ns},
                           {"computing", &StepRow::compute_ns},
                           {"checkpoint", &StepRow::checkpoint_ns},
                           {"other", &StepRow::other_ns}};

int64_t median(const std::vector<StepRow>& rows, int64_t StepRow::*of) {
  std::vector<int64_t> values;
  for (const StepRow& row : rows) values.push_back(row.*of);
  return util::upper_median(std::move(values));
}

}  // namespace

SlowSteps slow_steps(const Answer& answer, size_t most) {
  SlowSteps slow;
  const std::vector<StepRow>& rows = answer.step_rows;
  if (rows.empty()) return slow;
  slow.median_ns = median(rows, &StepRow::dur_ns);
  std::vector<const StepRow*> longer;
  for (const StepRow& row : rows) {
    if (row.dur_ns > slow.median_ns + slow.median_ns / 4) longer.push_back(&row);
  }
  slow.count = longer.size();
  std::stable_sort(longer.begin(), longer.end(),
                   [](const StepRow* a, const StepRow* b) { return a->dur_ns > b->dur_ns; });
  if (longer.size() > most) longer.resize(most);
  int64_t usual[std::size(kParts)] = {};
  for (size_t i = 0; i < std::size(kParts); ++i) usual[i] = median(rows, kParts[i].ns);
  for (const StepRow* row : longer) {
    SlowStep step{row, "", INT64_MIN};
    for (size_t i = 0; i < std::size(kParts); ++i) {
      const int64_t above_ns = row->*kParts[i].ns - usual[i];
      if (above_ns > step.above_ns) step = {row, kParts[i].name, above_ns};
    }
    slow.first.push_back(step);
  }
  return slow;
}

std::string no_steps_text(const Answer& answer) {
  constexpr int64_t kLeastOfTime = 100;  // waiting counts from a hundredth of the wall time on
  const bool is_slow = !answer.findings.empty() && answer.findings.front().cause != "compute_bound";
  if (answer.steps != 0 || (answer.batches_from_ns == 0 && !is_slow)) return "";
  const bool waits = answer.waiting_ns >= answer.wall_ns / kLeastOfTime;
  return std::string(waits ? "the waits of the training thread do not show how many batches it took"
                           : "no call of the training thread marks a batch") +
         "; mark the steps with ranges named step (mlrun_mark, NVTX)";
}

}  // namespace mlrun::summary
