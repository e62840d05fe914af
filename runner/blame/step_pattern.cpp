// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_pattern.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runner/blame/step_events.h"
#include "runner/blame/step_gaps.h"
#include "runner/blame/step_makers.h"
#include "runner/util/median.h"

namespace mlrun::blame {

namespace {

using Kind = StepSource::Kind;

// Multiples of the median computing of a step: kShort to kLong is regular; below kJoins, two events belong to the same step.
constexpr double kShort = 0.75, kLong = 1.35, kJoins = 0.45;
constexpr double kRegularMin = 0.85;  // smallest share of regular steps in a regular loop
constexpr double kAmbiguousMost = 0.01, kFilledMost = 0.3, kAlikeMin = 0.8, kSureMin = 0.9;
constexpr double kLate = 1.1;       // share of the median wait: a longer one means that the batch came late
constexpr double kHeavyWait = 0.1;  // share of a step: if every batch is waited for so long, none was ready before

// Finds the steps that the events of one source show.
class Pattern {
 public:
  Pattern(const Timeline& timeline, const Division& division, StackKinds& kinds, const StepSource& source)
      : timeline_(timeline), division_(division), kinds_(kinds), source_(source) {}

  PatternSteps find();

 private:
  using Event = StepEvent;
  [[nodiscard]] const Thread& driver() const { return timeline_.thread(division_.driver); }
  [[nodiscard]] Ns end_of_driver() const { return std::min(driver().last_ns, timeline_.end_ns); }
  [[nodiscard]] double computing(Ns a_ns, Ns b_ns) const;
  [[nodiscard]] std::vector<double> computing_of_steps() const;
  void join(double gap_ns);
  [[nodiscard]] std::optional<bool> is_loading(double low_ns, double high_ns) const;
  [[nodiscard]] Ns next_call(Ns got_ns) const;
  [[nodiscard]] Ns last_call(Ns moment_ns) const;
  [[nodiscard]] std::vector<double> marks(double Event::*mark) const {
    std::vector<double> all;
    for (const Event& one : clusters_) all.push_back(one.*mark);
    return all;
  }
  void join_parts(double Event::*mark, double tolerance);
  [[nodiscard]] bool keep_alike(double Event::*mark, double tolerance);
  bool check_files();
  bool check_threads();
  void trim_threads();
  void begin_with_ranks();
  void end_loop();
  bool fill(const std::vector<size_t>& made_after);
  [[nodiscard]] bool is_asked_for() const;
  [[nodiscard]] std::optional<size_t> tasks_sent();
  [[nodiscard]] size_t steps_at_end(const std::vector<size_t>& counts) const;
  void fill_counted(std::vector<size_t> counts);
  void put_evenly(Ns from_ns, Ns length_ns, size_t count);
  void keep_made(size_t made);
  [[nodiscard]] size_t steps_in(double length_ns, double compute_ns, bool waits_on);

  const Timeline& timeline_;
  const Division& division_;
  StackKinds& kinds_;
  const StepSource& source_;
  std::vector<Event> clusters_;                          // one event for each batch
  double compute_ns_ = 0, step_ns_ = 0, waited_ns_ = 0;  // medians
  bool is_regular_ = false, is_counted_ = false;
  bool is_starved_ = false;  // the driver waits long for almost every batch
  bool ends_unseen_ = false;
  double sure_ = 0;
  std::vector<Ns> begins_;
  Ns end_ns_ = 0;
  size_t ambiguous_ = 0, filled_ = 0;
};

// The time between two events, without the writing of checkpoints and logs.
double Pattern::computing(Ns a_ns, Ns b_ns) const {
  double ns = std::max(0.0, static_cast<double>(b_ns) - static_cast<double>(a_ns));
  auto saving = std::partition_point(division_.savings.begin(), division_.savings.end(),
                                     [&](const auto& one) { return one.second <= a_ns; });
  for (; saving != division_.savings.end() && saving->first < b_ns; ++saving)
    ns -= static_cast<double>(std::min(saving->second, b_ns) - std::max(saving->first, a_ns));
  return ns;
}

std::vector<double> Pattern::computing_of_steps() const {
  std::vector<double> all;
  for (size_t i = 0; i + 1 < clusters_.size(); ++i)
    all.push_back(computing(clusters_[i].end_ns, clusters_[i + 1].start_ns));
  return all;
}

// Joins events with less than `gap_ns` of computing between them into one batch.
void Pattern::join(double gap_ns) {
  std::vector<Event> joined;
  for (const Event& event : clusters_) {
    if (joined.empty() || computing(joined.back().end_ns, event.start_ns) >= gap_ns) {
      joined.push_back(event);
      continue;
    }
    joined.back().add(event);
  }
  clusters_ = std::move(joined);
}

// Whether most samples in gaps of this length are in code that loads data. std::nullopt: too few samples.
std::optional<bool> Pattern::is_loading(double low_ns, double high_ns) const {
  constexpr size_t kSamplesMin = 10;
  size_t samples = 0, loads = 0;
  for (size_t i = 0; i + 1 < clusters_.size(); ++i) {
    const double ns = computing(clusters_[i].end_ns, clusters_[i + 1].start_ns);
    if (ns < low_ns || ns >= high_ns) continue;
    const auto& all = driver().samples;
    for (size_t k = driver().first_sample(clusters_[i].end_ns);
         k < all.size() && all[k].start_ns < clusters_[i + 1].start_ns; ++k) {
      ++samples;
      loads += kinds_.kind(all[k].stack_id) == StackKind::kLoader ? 1 : 0;
    }
  }
  if (samples < kSamplesMin) return std::nullopt;
  return 2 * loads >= samples;
}

// The first call or wait of the driver, other than computing, after it got a batch. Calls right after the batch belong to the batch.
Ns Pattern::next_call(Ns got_ns) const {
  constexpr double kAtOnce = 0.2;
  const Ns moment_ns = got_ns + static_cast<Ns>(kAtOnce * compute_ns_);
  Ns next_ns = end_of_driver();
  const auto& waits = driver().waits;
  for (size_t i = driver().first_wait(moment_ns); i < waits.size(); ++i) {
    if (timeline_.is_python_lock(driver().proc_id, waits[i]) || waits[i].kind == WaitKind::kSleep) continue;
    next_ns = std::min(next_ns, std::max(moment_ns, waits[i].start_ns));
    break;
  }
  const auto& bins = driver().calls.bins();
  auto bin = std::partition_point(bins.begin(), bins.end(),
                                  [&](const CallBins::Bin& one) { return one.start_ns < moment_ns; });
  const auto is_computing = [](const CallBins::Bin& one) {
    return std::all_of(one.group_ns.begin(), one.group_ns.end() - 1, [](float ns) { return ns == 0; });
  };
  while (bin != bins.end() && is_computing(*bin)) ++bin;
  return bin == bins.end() ? next_ns : std::min(next_ns, bin->start_ns);
}

Ns Pattern::last_call(Ns moment_ns) const {
  Ns last_ns = driver().first_ns;
  const auto& waits = driver().waits;
  for (size_t i = driver().first_wait(moment_ns); i > 0; --i) {
    if (timeline_.is_python_lock(driver().proc_id, waits[i - 1])) continue;
    last_ns = std::max(last_ns, waits[i - 1].end_ns);
    break;
  }
  const auto& bins = driver().calls.bins();
  const auto bin =
      std::partition_point(bins.begin(), bins.end(), [&](const CallBins::Bin& one) { return one.end_ns <= moment_ns; });
  return bin == bins.begin() ? last_ns : std::max(last_ns, (bin - 1)->end_ns);
}

// If most batches have the same mark (files, bytes), drops those before the first such batch as not of the loop. Returns whether most have.
bool Pattern::keep_alike(double Event::*mark, double tolerance) {
  const double usual = util::upper_median(marks(mark));
  const auto is_alike = [&](const Event& one) { return std::abs(one.*mark - usual) <= tolerance * usual; };
  const auto alike = static_cast<double>(std::count_if(clusters_.begin(), clusters_.end(), is_alike));
  sure_ = alike / static_cast<double>(clusters_.size());
  if (usual <= 0 || sure_ < kAlikeMin) return false;
  auto first = std::find_if(clusters_.begin(), clusters_.end(), is_alike);
  // With ranks, the operation before the first usual one begins the first step.
  if (source_.kind == Kind::kRanks && first != clusters_.begin()) --first;
  // The first batch may open more files than the others. It belongs to the loop if the computing after it is of usual length.
  if (source_.kind == Kind::kFiles && first != clusters_.begin() && (*(first - 1)).*mark > usual) {
    const double ns = computing((first - 1)->end_ns, first->start_ns);
    if (ns >= kShort * compute_ns_ && ns <= kLong * compute_ns_) --first;
  }
  clusters_.erase(clusters_.begin(), first);
  // At the end, a smaller batch is kept, since the last batch may be smaller.
  while (!clusters_.empty() && !is_alike(clusters_.back()) &&
         (source_.kind == Kind::kRanks || clusters_.back().*mark > usual))
    clusters_.pop_back();
  return true;
}

// Joins parts of an interrupted batch, as long as the sum of their `mark` (as files opened, or bytes) is not above the usual.
void Pattern::join_parts(double Event::*mark, double tolerance) {
  const double usual = (1 + tolerance) * util::upper_median(marks(mark));
  std::vector<Event> whole;
  for (const Event& one : clusters_) {
    if (!whole.empty() && whole.back().*mark + one.*mark <= usual) {
      whole.back().add(one);
    } else {
      whole.push_back(one);
    }
  }
  clusters_ = std::move(whole);
}

bool Pattern::check_files() {
  constexpr double kBytes = 0.02;
  const bool opens = util::upper_median(marks(&Event::opens)) > 0;
  double Event::*const mark = opens ? &Event::opens : &Event::bytes;
  const double tolerance = opens ? 0 : kBytes;
  std::vector<Event> before = clusters_;
  join_parts(mark, tolerance);
  if (keep_alike(mark, tolerance)) return true;
  clusters_ = std::move(before);
  const std::vector<double> all = computing_of_steps();
  sure_ = share_of(all, kShort * compute_ns_, kLong * compute_ns_);
  return is_regular_;
}

// If the loop waits long for every batch, short waits at its end are for threads that end. Short waits before a long gap are for threads that start.
void Pattern::trim_threads() {
  constexpr double kLightWait = 0.02;
  while (clusters_.size() > 1 && static_cast<double>(clusters_[0].waited_ns) < kLightWait * step_ns_ &&
         computing(clusters_[0].end_ns, clusters_[1].start_ns) > kLong * compute_ns_)
    clusters_.erase(clusters_.begin());
  if (!is_starved_) return;
  while (!clusters_.empty() && static_cast<double>(clusters_.back().waited_ns) < kHeavyWait * step_ns_)
    clusters_.pop_back();
}

bool Pattern::check_threads() {
  std::vector<double> waited;
  for (const Event& one : clusters_) waited.push_back(static_cast<double>(one.waited_ns));
  const double heavy = share_of(waited, kHeavyWait * step_ns_, std::numeric_limits<double>::infinity());
  waited_ns_ = util::upper_median(waited);
  constexpr double kStarvedMin = 0.95;
  is_starved_ = heavy >= kStarvedMin;
  const std::vector<double> all = computing_of_steps();
  sure_ = std::max(heavy, is_regular_ ? share_of(all, kShort * compute_ns_, kLong * compute_ns_) : 0.0);
  return is_regular_ || is_starved_;
}

// Steps of a loop over collective operations begin with the operation before; the first step, if it has none, begins a median step before its own.
void Pattern::begin_with_ranks() {
  constexpr double kAlike = 0.25;
  for (const auto& sent : source_.sent) {
    const auto after = std::partition_point(clusters_.begin(), clusters_.end(),
                                            [&](const Event& one) { return one.start_ns <= sent.first; });
    if (after != clusters_.begin()) (after - 1)->bytes += sent.second;
  }
  // Drops events without sent bytes and without a wait: a thread that got no processor ended its wait late, when nothing was sent.
  std::erase_if(clusters_, [](const Event& one) { return one.bytes == 0 && one.waited_ns == 0; });
  const double most = (1 + kAlike) * util::upper_median(marks(&Event::bytes));
  // Joins an event without a wait with the next one, unless both together send more than usual: the wait came long after the sending.
  for (size_t i = clusters_.size(); i-- > 1;) {
    if (clusters_[i - 1].waited_ns != 0 || clusters_[i - 1].bytes + clusters_[i].bytes > most) continue;
    clusters_[i - 1].add(clusters_[i]);
    clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const bool alike = keep_alike(&Event::bytes, kAlike);
  sure_ = std::max(sure_, is_regular_ ? kRegularMin : 0.0);
  if (clusters_.empty() || !alike) return;
  const double usual = util::upper_median(marks(&Event::bytes));
  const Event& first = clusters_.front();
  if (std::abs(first.bytes - usual) > kAlike * usual) return;
  const Ns before_ns = last_call(first.start_ns - 1);
  if (computing(before_ns, first.start_ns) < 0.5 * compute_ns_) return;
  begins_.push_back(std::max(before_ns, first.start_ns - static_cast<Ns>(compute_ns_)));
}

// A last event that no computing follows begins no step: the last collective operation, or the loader's message that it ends.
void Pattern::end_loop() {
  // Events after a long stretch with other calls in it are not of the loop.
  while (clusters_.size() > 1) {
    const Ns from_ns = clusters_[clusters_.size() - 2].end_ns, to_ns = clusters_.back().start_ns;
    if (computing(from_ns, to_ns) <= kLong * compute_ns_ || next_call(from_ns) >= to_ns) break;
    clusters_.pop_back();
  }
  const Event last = clusters_.back();
  const bool ends_step = source_.kind == Kind::kRanks;
  // A thread that waited for the driver and then ended may have left a batch, or may only have been asked to end: more computing must follow.
  const double least = last.ends ? 1.5 : 0.5;
  end_ns_ = next_call(last.end_ns);
  // The driver makes no more calls: the end of its computing is unknown.
  ends_unseen_ = end_ns_ >= end_of_driver();
  const bool only_ends = ends_step || (ends_unseen_ && last.ends);
  if (!only_ends && computing(last.end_ns, end_ns_) >= least * compute_ns_) return;
  end_ns_ = ends_step ? last.end_ns : last.start_ns;
  ends_unseen_ = false;
  clusters_.pop_back();
}

// A batch that was ready is taken without a wait, so that no event shows it. Returns how many steps a long stretch between two events has.
size_t Pattern::steps_in(double length_ns, double compute_ns, bool waits_on) {
  constexpr double kNear = 0.25;
  if (!is_regular_ || source_.kind != Kind::kThreads || compute_ns <= kLong * compute_ns_) return 1;
  const double steps = length_ns / step_ns_;
  if (steps <= kLong || waits_on) return 1;  // the length is usual, or the next batch was not ready
  if (std::abs(steps - std::round(steps)) > kNear) ++ambiguous_;
  return std::max<size_t>(1, static_cast<size_t>(std::min(std::round(steps), std::round(compute_ns / compute_ns_))));
}

// Whether the threads work on request: they wait for the driver in most steps. Several of them may then make one batch together.
bool Pattern::is_asked_for() const {
  const auto asked =
      std::count_if(clusters_.begin(), clusters_.end(), [](const Event& one) { return one.blocked_ns != 0; });
  return 2 * static_cast<size_t>(asked) > clusters_.size();
}

// If the driver sends a task for each batch: drops events before the first task and returns the number of tasks, which is that of the batches.
std::optional<size_t> Pattern::tasks_sent() {
  const auto asks = [](const Event& one) { return one.asks > 0; };
  const auto asked = static_cast<double>(std::count_if(clusters_.begin(), clusters_.end(), asks));
  if (asked < kAlikeMin * static_cast<double>(clusters_.size())) return std::nullopt;
  clusters_.erase(clusters_.begin(), std::find_if(clusters_.begin(), clusters_.end(), asks));
  double sum = 0;
  for (const Event& one : clusters_) sum += one.asks;
  return static_cast<size_t>(sum);
}

// Steps after the last event: the batches that were made but not yet taken, limited by the length of that stretch.
size_t Pattern::steps_at_end(const std::vector<size_t>& counts) const {
  std::vector<double> lengths;
  size_t before = 0, all = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    if (i + 1 >= clusters_.size()) continue;
    before += counts[i];
    const double ns = computing(clusters_[i].end_ns, clusters_[i + 1].start_ns);
    if (counts[i] != 0) lengths.push_back(ns / static_cast<double>(counts[i]));
  }
  const double usual_ns = util::upper_median(lengths);
  const double room = usual_ns > 0 ? std::round(computing(clusters_.back().end_ns, end_ns_) / usual_ns) : 0;
  return std::min(all - before, static_cast<size_t>(std::max(1.0, room)));
}

// Counts steps by the batches that threads have made, if these are more than the events show. A stretch of several steps is divided evenly.
void Pattern::fill_counted(std::vector<size_t> counts) {
  constexpr double kMore = 1.1, kSeenMin = 0.4;
  counts[clusters_.size() - 1] = steps_at_end(counts);
  counts.resize(clusters_.size());
  std::vector<Ns> begins;
  size_t first = 0, filled = 0;  // first: number of the event that begins a stretch
  for (size_t i = 0; i < clusters_.size(); ++i) {
    if (counts[i] == 0) continue;
    const Ns to_ns = i + 1 == clusters_.size() ? end_ns_ : clusters_[i + 1].start_ns;
    const Ns from_ns = clusters_[first].end_ns;
    const size_t seen = i - first + 1;
    const double part_ns = static_cast<double>(to_ns - from_ns) / static_cast<double>(counts[i]);
    for (size_t k = 0; k < counts[i]; ++k)
      begins.push_back(counts[i] == seen ? clusters_[first + k].end_ns
                                         : from_ns + static_cast<Ns>(static_cast<double>(k) * part_ns));
    filled += counts[i] > seen ? counts[i] - seen : 0;
    first = i + 1;
  }
  const auto count = static_cast<double>(begins.size());
  if (count <= kMore * static_cast<double>(begins_.size())) return;
  begins_.clear();
  if (static_cast<double>(filled) > (1 - kSeenMin) * count) return;
  begins_ = std::move(begins);
  filled_ = filled;
  ambiguous_ = 0;
  sure_ = 1;
  is_counted_ = true;
}

void Pattern::put_evenly(Ns from_ns, Ns length_ns, size_t count) {
  const double part_ns = static_cast<double>(length_ns) / static_cast<double>(count);
  for (size_t k = 0; k < count; ++k) begins_.push_back(from_ns + static_cast<Ns>(static_cast<double>(k) * part_ns));
}

// Makes the number of steps that of the batches made. Batches that no event shows were taken without a wait, in stretches in which the driver
// computed for several steps. Clears the steps if the numbers do not fit.
void Pattern::keep_made(size_t made) {
  // Several threads may make each batch together, the same number each time.
  const auto together = static_cast<size_t>(
      begins_.empty() ? 1 : std::max(1.0, std::round(static_cast<double>(made) / static_cast<double>(begins_.size()))));
  if (begins_.size() * together == made) return;
  made /= together;
  begins_.clear();
  filled_ = ambiguous_ = 0;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const bool is_last = i + 1 == clusters_.size();
    const Ns from_ns = clusters_[i].end_ns, to_ns = is_last ? end_ns_ : clusters_[i + 1].start_ns;
    const double times = computing(from_ns, to_ns) / compute_ns_;
    const size_t room =
        times <= kLong ? 1 : static_cast<size_t>(std::min(std::round(times), static_cast<double>(made)));
    const size_t left = made - std::min(made, begins_.size());
    if (is_last && left > room) return begins_.clear();
    const size_t count = is_last ? left : room;
    const Ns length_ns = is_last ? static_cast<Ns>(static_cast<double>(count) * compute_ns_) : to_ns - from_ns;
    put_evenly(from_ns, length_ns, count);
    filled_ += std::max<size_t>(count, 1) - 1;
  }
  if (begins_.size() != made) begins_.clear();
}

// `made_after`: number of steps of each stretch by the batches made; 0 or absent: unknown. Returns whether the steps are clear.
bool Pattern::fill(const std::vector<size_t>& made_after) {
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const bool is_last = i + 1 == clusters_.size();
    const Ns from_ns = clusters_[i].end_ns, to_ns = is_last ? end_ns_ : clusters_[i + 1].end_ns;
    const Ns computed_ns = is_last ? end_ns_ : clusters_[i + 1].start_ns;
    const double computed = computing(from_ns, computed_ns);
    // No batch was taken meanwhile if a thread waited for the driver: it was not asked. Nor was one if a loop that waits for every batch waits long:
    // it would wait less after a batch that was ready.
    const Event* next = is_last ? nullptr : &clusters_[i + 1];
    const bool is_blocked =
        next != nullptr && next->blocked_ns != 0 && computing(from_ns, next->blocked_ns) < kShort * compute_ns_;
    const bool is_late = is_starved_ && (next == nullptr || static_cast<double>(next->waited_ns) > kLate * waited_ns_);
    const bool is_other = next_call(from_ns) < computed_ns || (is_last && ends_unseen_);
    size_t count = is_other ? 1 : steps_in(static_cast<double>(to_ns - from_ns), computed, is_blocked || is_late);
    const bool is_alone = is_regular_ && !is_last && i < made_after.size() && (i == 0 || made_after[i - 1] != 0);
    if (is_alone && static_cast<double>(made_after[i]) * kShort * compute_ns_ <= computed)
      count = std::max(count, made_after[i]);
    // Batches that were ready are taken when the batch before has been computed.
    put_evenly(from_ns, is_last ? static_cast<Ns>(static_cast<double>(count) * compute_ns_) : computed_ns - from_ns,
               count);
    filled_ += count - 1;
  }
  const auto count = static_cast<double>(begins_.size());
  return static_cast<double>(ambiguous_) <= kAmbiguousMost * count &&
         static_cast<double>(filled_) <= kFilledMost * count;
}

PatternSteps Pattern::find() {
  clusters_.assign(source_.events.begin(), source_.events.end());
  join(1);
  const double least_ns = source_.kind == Kind::kFiles ? 1.5 * static_cast<double>(timeline_.bin_ns) : 0;
  const auto gap_ns = gap_between_steps(computing_of_steps(), least_ns,
                                        [&](double low_ns, double high_ns) { return is_loading(low_ns, high_ns); });
  if (!gap_ns) return {};
  join(*gap_ns);
  compute_ns_ = util::upper_median(computing_of_steps());
  is_regular_ = share_of(computing_of_steps(), kShort * compute_ns_, kLong * compute_ns_) >= kRegularMin;
  if (is_regular_) join(kJoins * compute_ns_);
  std::vector<double> lengths;
  for (size_t i = 0; i + 1 < clusters_.size(); ++i)
    lengths.push_back(static_cast<double>(clusters_[i + 1].end_ns - clusters_[i].end_ns));
  step_ns_ = util::upper_median(lengths);
  if (source_.kind == Kind::kFiles && !check_files()) return {};
  if (source_.kind == Kind::kRanks) begin_with_ranks();
  const bool is_clear = source_.kind == Kind::kFiles || check_threads();
  if (source_.kind == Kind::kThreads) trim_threads();
  if (clusters_.empty()) return {};
  std::optional<std::vector<size_t>> counts;
  std::optional<size_t> made;
  if (source_.kind == Kind::kThreads) {
    const StepMakers makers(timeline_, division_.driver, source_.comm);
    made = makers.batches(clusters_);
    if (!is_asked_for()) counts = makers.steps_after(clusters_);
    if (!made) made = tasks_sent();
  }
  end_loop();
  if (clusters_.empty()) return {};
  if (!is_clear || !fill(counts.value_or(std::vector<size_t>()))) begins_.clear();
  if (counts) fill_counted(*counts);
  // Batches that were made without a request may be left over at the end.
  if (made && (!counts || begins_.size() > *made)) keep_made(*made);
  if (begins_.size() < kStepsMin) return {};
  PatternSteps found;
  found.sure = std::min(sure_, 1 - static_cast<double>(filled_ + ambiguous_) / static_cast<double>(begins_.size()));
  if (source_.kind != Kind::kFiles && !is_counted_ && found.sure < kSureMin) return {};
  for (size_t i = 0; i < begins_.size(); ++i)
    found.steps.push_back({begins_[i], i + 1 < begins_.size() ? begins_[i + 1] : std::max(begins_[i], end_ns_)});
  return found;
}

// A short loop of a program is not its training.
bool is_long(const std::vector<StepBounds>& steps, Ns from_ns, Ns to_ns) {
  constexpr double kShareMin = 0.2;
  const auto length = [](Ns a_ns, Ns b_ns) { return static_cast<double>(b_ns) - static_cast<double>(a_ns); };
  return length(steps.front().start_ns, steps.back().end_ns) >= kShareMin * length(from_ns, to_ns);
}

}  // namespace

PatternSteps steps_of_pattern(const Timeline& timeline, const Division& division, WaitEnds& ends) {
  constexpr double kMuchMore = 3;
  if (division.driver == 0) return {};
  const Ns from_ns = earliest_step(timeline, division);
  StackKinds kinds(timeline);
  const auto sources = step_sources(timeline, division, ends, from_ns, timeline.end_ns);
  PatternSteps best;
  double best_ns = 0;
  for (const auto& [name, source] : sources) {
    PatternSteps found = Pattern(timeline, division, kinds, source).find();
    if (found.steps.empty() || !is_long(found.steps, from_ns, timeline.end_ns)) continue;
    double ns = 0;
    for (const StepEvent& one : source.events) ns += static_cast<double>(one.waited_ns + (one.end_ns - one.start_ns));
    const bool agrees = found.steps.size() == best.steps.size();
    if (best.steps.empty() || ns > kMuchMore * best_ns) {
      best = std::move(found);
      best_ns = ns;
    } else if (!agrees && best_ns < kMuchMore * ns) {
      return {};  // two patterns, and nothing says which one has the steps
    }
  }
  return best;
}

}  // namespace mlrun::blame
