// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_list.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "runner/blame/loop_steps.h"
#include "runner/model/step_name.h"
#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_batches.h"
#include "runner/util/median.h"

namespace mlrun::blame {

namespace {

using summary::Activity;
using tables::Numbers;
using tables::Texts;

constexpr size_t kStepsMost = 1'000'000;

Status read_names(const std::string& folder, std::unordered_set<int64_t>& steps) {
  const auto add = [&](const arrow::RecordBatch& batch) {
    const Numbers id(batch, "name_id");
    const Texts text(batch, "name");
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (model::is_step_name(text[row])) steps.insert(id[row]);
    }
  };
  return tables::for_each_batch_if_any(folder, "name", {.columns = {"name_id", "name"}}, add);
}

}  // namespace

Result<std::vector<StepBounds>> steps_of_marks(const std::string& folder, const Timeline& timeline, int32_t driver) {
  std::vector<StepBounds> own, of_process;
  std::unordered_set<int64_t> names;
  if (Status named = read_names(folder, names); !named) return tl::make_unexpected(named.error());
  if (names.empty()) return own;
  const std::vector<std::string> columns = {"ts", "dur", "proc_id", "thread_id", "name_id"};
  const auto add = [&](const arrow::RecordBatch& batch) {
    const Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), thread(batch, "thread_id"),
        name(batch, "name_id");
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (dur.is_null(row) || dur[row] <= 0 || !names.contains(name[row]) ||
          own.size() + of_process.size() >= kStepsMost)
        continue;
      const StepBounds bounds{ts[row], ts[row] + dur[row]};
      if (thread[row] == driver) {
        own.push_back(bounds);
      } else if (proc[row] == timeline.thread(driver).proc_id) {
        of_process.push_back(bounds);
      }
    }
  };
  const Status read = tables::for_each_batch_if_any(folder, "mark", {.columns = columns}, add);
  if (!read) return tl::make_unexpected(read.error());
  std::vector<StepBounds>& steps = own.empty() ? of_process : own;
  std::sort(steps.begin(), steps.end(), [](const StepBounds& a, const StepBounds& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  Ns until_ns = INT64_MIN;
  std::erase_if(steps, [&](const StepBounds& step) {
    if (step.start_ns < until_ns) return true;
    until_ns = step.end_ns;
    return false;
  });
  return steps;
}

namespace {

// Whether the loop takes from two loaders in turn, one batch of each per step.
bool is_in_turn(const Epoch& a, const Epoch& b) {
  std::vector<std::pair<Ns, bool>> takes;
  for (const Batch& batch : a.batches) takes.emplace_back(batch.taken_ns, false);
  for (const Batch& batch : b.batches) takes.emplace_back(batch.taken_ns, true);
  std::sort(takes.begin(), takes.end());
  size_t changes = 0;
  for (size_t i = 1; i < takes.size(); ++i) changes += takes[i].second != takes[i - 1].second ? 1 : 0;
  const size_t least = std::min(a.batches.size(), b.batches.size());
  return 10 * changes > 15 * least;
}

// How long the driver is busy after it got a batch, until it waits again.
double busy_ns(const Division& division, const StepBounds& step) {
  auto piece = std::partition_point(division.pieces.begin(), division.pieces.end(),
                                    [&](const Divided& one) { return one.end_ns <= step.start_ns; });
  while (piece != division.pieces.end() && piece->start_ns < step.end_ns && piece->activity != Activity::kWait &&
         piece->activity != Activity::kEnd)
    ++piece;
  const Ns until_ns = piece == division.pieces.end() ? step.end_ns : std::min(step.end_ns, piece->start_ns);
  return static_cast<double>(std::max<Ns>(0, until_ns - step.start_ns));
}

// The next time at which the driver waits for longer than `least_ns`, or for more than 1 ms for workers to end or to start. Shorter waits belong to a
// step, such as those for the descriptors of a batch's shared memory.
Ns next_wait_ns(const Division& division, Ns from_ns, Ns least_ns) {
  auto piece = std::partition_point(division.pieces.begin(), division.pieces.end(),
                                    [&](const Divided& one) { return one.end_ns <= from_ns; });
  constexpr Ns kLastNs = 1'000'000;
  Ns wait_ns = -1;  // start of the current wait
  for (; piece != division.pieces.end(); ++piece) {
    if (piece->activity == Activity::kEnd) return piece->start_ns;
    if (piece->activity != Activity::kWait) {
      wait_ns = -1;
      continue;
    }
    if (wait_ns < 0) wait_ns = std::max(piece->start_ns, from_ns);
    const bool for_workers = piece->label == Label::kWorkerEnd || piece->label == Label::kWorkerStart;
    if (piece->end_ns - wait_ns > (for_workers ? std::min(kLastNs, least_ns) : least_ns)) return wait_ns;
  }
  return division.pieces.empty() ? from_ns : division.pieces.back().end_ns;
}

Ns median_step_ns(const std::vector<Ns>& begins) {
  std::vector<Ns> lengths;
  for (size_t i = 1; i < begins.size(); ++i) lengths.push_back(begins[i] - begins[i - 1]);
  return util::upper_median(std::move(lengths));
}

// A last batch that the driver does nothing with is not a step: after its loop has ended it empties the channel.
void drop_unused(const Division& division, std::vector<StepBounds>& steps) {
  constexpr double kNothing = 0.2;  // share of the median: below it, a batch was not used
  std::vector<double> busy;
  for (const StepBounds& step : steps) busy.push_back(busy_ns(division, step));
  const double usual = util::upper_median(std::move(busy));
  while (!steps.empty() && busy_ns(division, steps.back()) < kNothing * usual) steps.pop_back();
}

}  // namespace

std::vector<StepBounds> steps_of_batches(const Division& division, const std::vector<Epoch>& all_epochs) {
  std::vector<Epoch> epochs;
  for (const Epoch& epoch : all_epochs) {
    // If the loop takes from two loaders in turn, the later batch of each pair begins the step.
    if (!epochs.empty() && is_in_turn(epochs.back(), epoch)) {
      if (epoch.batches.size() >= epochs.back().batches.size()) epochs.back() = epoch;
      continue;
    }
    epochs.push_back(epoch);
  }
  std::vector<Ns> begins;
  std::vector<Ns> last_of_epoch;
  for (const Epoch& epoch : epochs) {
    for (const Batch& batch : epoch.batches) begins.push_back(batch.taken_ns);
    if (!epoch.batches.empty()) last_of_epoch.push_back(epoch.batches.back().taken_ns);
  }
  std::sort(begins.begin(), begins.end());
  if (begins.size() > kStepsMost) begins.resize(kStepsMost);
  constexpr Ns kShortWait = 10;  // a wait must be longer than a tenth of the median step
  const Ns least_wait_ns = median_step_ns(begins) / kShortWait;
  std::vector<StepBounds> steps;
  for (size_t i = 0; i < begins.size(); ++i) {
    const Ns next_ns = i + 1 < begins.size() ? begins[i + 1] : INT64_MAX;
    Ns end_ns = next_ns;
    if (std::find(last_of_epoch.begin(), last_of_epoch.end(), begins[i]) != last_of_epoch.end()) {
      end_ns = std::min(next_ns, std::max(begins[i], next_wait_ns(division, begins[i], least_wait_ns)));
    }
    steps.push_back({begins[i], end_ns});
  }
  if (!all_epochs.empty() && !all_epochs.back().in_order) drop_unused(division, steps);
  return steps;
}

namespace {

// Sums the pieces of a step by activity. `from`: number of its first piece.
void sum_activities(const Division& division, const StepBounds& step, size_t from, summary::StepRow& row) {
  double wait = 0, compute = 0, checkpoint = 0, other = 0;
  for (size_t i = from; i < division.pieces.size() && division.pieces[i].start_ns < step.end_ns; ++i) {
    const Divided& piece = division.pieces[i];
    const Ns inside_ns = std::min(piece.end_ns, step.end_ns) - std::max(piece.start_ns, step.start_ns);
    if (inside_ns <= 0) continue;
    const double ns = static_cast<double>(inside_ns) * piece.weight;
    switch (piece.activity) {
      case Activity::kWait:
      case Activity::kReceive:
      case Activity::kLoader: wait += ns; break;
      case Activity::kCompute: compute += ns; break;
      case Activity::kCheckpoint: checkpoint += ns; break;
      case Activity::kStartup:
      case Activity::kFiles:
      case Activity::kLogging:
      case Activity::kPythonLock:
      case Activity::kEnd: other += ns; break;
    }
  }
  row.wait_ns = std::llround(wait);
  row.compute_ns = std::llround(compute);
  row.checkpoint_ns = std::llround(checkpoint);
  row.other_ns = std::llround(other);
}

}  // namespace

bool takes_chunks(const Timeline& timeline, int32_t driver) {
  const auto& samples = timeline.thread(driver).samples;
  return std::any_of(samples.begin(), samples.end(), [&](const StackSample& sample) {
    const auto frames = timeline.stacks.find(sample.stack_id);
    return frames != timeline.stacks.end() &&
           std::any_of(frames->second.begin(), frames->second.end(), [](const Frame& frame) {
             const bool of_pool = frame.source.find("multiprocessing/pool.py") != std::string::npos;
             return of_pool && frame.function.find("imap") != std::string::npos &&
                    frame.function.ends_with("<genexpr>");
           });
  });
}

Status find_steps(const std::string& folder, const Timeline& timeline, const Division& division, Divider& divider,
                  summary::Answer& answer) {
  auto marked = steps_of_marks(folder, timeline, division.driver);
  if (!marked) return tl::make_unexpected(marked.error());
  std::vector<StepBounds> steps = *std::move(marked);
  answer.steps_from = static_cast<int64_t>(summary::StepsFrom::kMarks);
  answer.steps_sure_ppm = 1'000'000;
  const bool of_chunks = takes_chunks(timeline, division.driver);
  // False if marks or the workers of a DataLoader show the steps, which is better than loops.
  bool may_be_loops = false;
  if (steps.empty()) {
    const std::vector<Epoch> epochs = list_batches(timeline, division, divider.chain());
    may_be_loops = std::none_of(epochs.begin(), epochs.end(), [](const Epoch& epoch) { return epoch.in_order; });
    if (!of_chunks) steps = steps_of_batches(division, epochs);
    answer.steps_from = static_cast<int64_t>(summary::StepsFrom::kBatches);
  }
  if (steps.empty() && !of_chunks) {
    PatternSteps found = steps_of_pattern(timeline, division, divider.ends());
    steps = std::move(found.steps);
    answer.steps_from = static_cast<int64_t>(summary::StepsFrom::kPattern);
    answer.steps_sure_ppm = std::llround(1e6 * found.sure);
  }
  if (may_be_loops) {
    StackKinds kinds(timeline);
    if (auto both = steps_of_both(steps, steps_of_loops(timeline, division, kinds))) {
      steps = *std::move(both);
      answer.steps_from = static_cast<int64_t>(summary::StepsFrom::kLoops);
      answer.steps_sure_ppm = 1'000'000;
    }
  }
  answer.steps = static_cast<int64_t>(steps.size());
  size_t from = 0;
  for (const StepBounds& step : steps) {
    summary::StepRow row;
    row.step = static_cast<int64_t>(answer.step_rows.size()) + 1;
    row.ts_ns = step.start_ns;
    row.dur_ns = step.end_ns - step.start_ns;
    // Pieces of threads that share a stretch overlap: they are sorted by start, not by end.
    while (from < division.pieces.size() && division.pieces[from].end_ns <= step.start_ns) ++from;
    sum_activities(division, step, from, row);
    answer.step_rows.push_back(row);
  }
  return {};
}

}  // namespace mlrun::blame
