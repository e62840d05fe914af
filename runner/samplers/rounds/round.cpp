// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/rounds/round.h"

#include <algorithm>
#include <utility>

#include "runner/util/clock.h"
#include "runner/util/time_units.h"

namespace mlrun::rounds {

namespace {

constexpr size_t kPayloadBytes = 128 << 10;    // of Python stacks: then a frame is written
constexpr uint64_t kBatchNs = 1'000'000'000;   // after this time a frame is written, too
constexpr uint64_t kRoundCpuNs = 100'000'000;  // a round that takes longer is cut short
constexpr uint64_t kShortestPauseNs = 500'000;
constexpr uint64_t kMachineCostMax = 1000;  // a sample of the machine takes a thousandth of a processor at most
// Aims at 90 % of the share. The rest is for CPU time that the budget is charged with only one round later, and for the
// work at the end of the run.
constexpr double kUseOfShare = 0.9;
constexpr double kSavedByDefaultNs = 10e6, kSavedByNameNs = 100e6;
constexpr double kAdvanceNs = 15e6;                          // finding CPython and reading its symbols, once
constexpr double kDriversShare = 0.4;                        // of the budget, if it is too small for all threads
constexpr double kTasksReserve = 0.2, kOthersReserve = 0.4;  // shares of the largest saved budget

uint64_t thread_cpu_ns() { return util::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

double share_of(const SamplerOptions& options) {
  return options.python_by_name ? kShareByName : kUseOfShare * kShareByDefault;
}

python::StackSamplerOptions stack_options(const SamplerOptions& options) {
  python::StackSamplerOptions stacks;
  if (options.python_hz > 0) stacks.pause_ns = static_cast<uint64_t>(1e9 / options.python_hz);
  if (!options.python_by_name) return stacks;
  stacks.by_name = true;
  stacks.list_pause_ns = 0;
  stacks.search_pause_max_ns = 2 * util::kNsPerS;
  return stacks;
}

}  // namespace

Round::Round(const SamplerOptions& options, const std::atomic<bool>& is_ending)
    : options_(options),
      is_ending_(is_ending),
      began_ns_(util::monotonic_ns()),
      began_cpu_ns_(thread_cpu_ns()),
      charged_cpu_ns_(began_cpu_ns_),
      saved_max_ns_(options.python_by_name ? kSavedByNameNs : kSavedByDefaultNs),
      budget_(share_of(options), saved_max_ns_, began_ns_, kAdvanceNs),
      python_(stack_options(options), tasks_),
      batch_since_ns_(began_ns_),
      random_(began_ns_ | 1) {
  if (options.machine) machine_.emplace(proc::Machine::places(), options.command_cpus);
}

void Round::take(const std::vector<collect::WatchedProcess>& processes, bool is_paused) {
  std::vector<proc::TaskTable::Owner> owners;
  for (const collect::WatchedProcess& one : processes) owners.push_back({one.number, one.pid, one.host_pid});
  tasks_.set(owners);
  if (options_.python_hz <= 0) return;
  python_.take(processes);
  python_.pause(is_paused);
}

// Reading the CPU clock costs as much as a sample of a sleeping thread, so after a yes only every eighth call reads it.
bool Round::may_go(double reserve_ns) {
  constexpr uint32_t kEvery = 8;
  if (is_ending_ || python_.batch().bytes() >= kPayloadBytes) return false;
  if (asked_++ % kEvery != 0 && last_answer_) return true;
  const uint64_t used_ns = thread_cpu_ns() - charged_cpu_ns_;
  last_answer_ =
      budget_.left_ns() - static_cast<double>(used_ns) > reserve_ns && thread_cpu_ns() - round_cpu_ns_ < kRoundCpuNs;
  return last_answer_;
}

// Whether threads that do not drive may be sampled: while more budget is left than the reserve for threads that drive,
// and in any case for as much CPU time as a round takes for threads that drive.
bool Round::may_sample_others(uint64_t since_cpu_ns) {
  return may_go(kOthersReserve * saved_max_ns_) ||
         (may_go(0) && static_cast<double>(thread_cpu_ns() - since_cpu_ns) < driving_ns_);
}

// Threads that drive may use their part of the share, and the saved budget above the reserve for other samples.
uint64_t Round::pace_ns() const {
  constexpr double kSpentWithinNs = 2.5e9, kRoundsAhead = 10;
  const double spare_ns = std::max(0.0, budget_.left_ns() - kOthersReserve * saved_max_ns_);
  if (spare_ns > kRoundsAhead * driving_ns_) return 0;
  const double share = kDriversShare * share_of(options_) + spare_ns / kSpentWithinNs;
  return std::max(budget_.until_ns(0), static_cast<uint64_t>(driving_ns_ / share));
}

void Round::sample_tasks(uint64_t now_ns) {
  asked_ = 0;
  if (options_.threads) tasks_.work(now_ns, [this] { return may_go(kTasksReserve * saved_max_ns_); });
  asked_ = 0;
}

void Round::sample_machine(uint64_t now_ns) {
  const uint64_t before_ns = thread_cpu_ns();
  if (const auto sample = machine_->sample(now_ns)) machine_rows_.push_back(*sample);
  next_machine_ns_ = now_ns + std::max<uint64_t>(util::kNsPerS, kMachineCostMax * (thread_cpu_ns() - before_ns));
}

// Charges the budget with the previous round, including handing over its results and waking up for this one.
void Round::charge() {
  constexpr double kOfLast = 0.25;
  round_cpu_ns_ = thread_cpu_ns();
  const uint64_t used_ns = round_cpu_ns_ - std::exchange(charged_cpu_ns_, round_cpu_ns_);
  budget_.take(used_ns);
  driving_ns_ += kOfLast * (static_cast<double>(used_ns - std::min(used_ns, others_ns_)) - driving_ns_);
  others_ns_ = 0;
}

void Round::go() {
  const uint64_t now_ns = util::monotonic_ns();
  charge();
  if (!budget_.allows(now_ns)) {
    if (options_.python_hz > 0) python_.leave_out(1);
    return;
  }
  asked_ = 0;  // so that the first call of may_go() reads the clock
  uint64_t drivers_end_ns = round_cpu_ns_;
  const auto others = [&] {
    drivers_end_ns = thread_cpu_ns();
    sample_tasks(now_ns);
  };
  if (options_.python_hz > 0)
    python_.sample([&] { return may_go(0); }, [&] { return may_sample_others(drivers_end_ns); }, others);
  else
    others();
  if (machine_ && now_ns >= next_machine_ns_) sample_machine(now_ns);
  others_ns_ = thread_cpu_ns() - drivers_end_ns;
}

// Rounds keep their rate: each is at a random time up to a quarter of the pause before or after an evenly spaced beat.
uint64_t Round::python_due_ns(uint64_t now_ns) {
  const uint64_t due_ns = python_.due_ns(now_ns);
  if (due_ns == UINT64_MAX || due_ns <= now_ns) return due_ns;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const uint64_t pause_ns = due_ns - now_ns;
  const uint64_t after_ns = now_ns + pause_ns / 4;  // skips the beat of a round that was early
  if (beat_ns_ + 4 * pause_ns < now_ns || beat_ns_ > due_ns + pause_ns) beat_ns_ = now_ns;
  while (beat_ns_ <= after_ns) beat_ns_ += pause_ns;
  return beat_ns_ - pause_ns / 4 + random_ % (pause_ns / 2 + 1);
}

uint64_t Round::due_ns() {
  const uint64_t now_ns = util::monotonic_ns();
  uint64_t due_ns = UINT64_MAX;
  if (options_.threads) due_ns = tasks_.due_ns();
  if (machine_) due_ns = std::min(due_ns, next_machine_ns_);
  if (options_.python_hz > 0) due_ns = std::min(due_ns, python_due_ns(now_ns));
  // If the budget stopped the last round, its samples are still due: waits 50 ms instead of waking up again at once, since
  // waking up costs as much as a sample.
  due_ns = std::clamp(due_ns, now_ns + (due_ns <= now_ns ? 50'000'000 : kShortestPauseNs), now_ns + util::kNsPerS);
  const uint64_t may_ns = now_ns + std::min<uint64_t>(pace_ns(), util::kNsPerS);
  if (may_ns <= due_ns) return due_ns;
  const uint64_t pause_ns = stack_options(options_).pause_ns;
  if (options_.python_hz > 0) python_.leave_out((may_ns - due_ns + pause_ns / 2) / pause_ns);
  return may_ns;
}

Sampler::News Round::results(bool all) {
  Sampler::News news;
  news.machine.swap(machine_rows_);
  if (options_.threads)
    news.threads = tasks_.take();
  else
    tasks_.take();
  const uint64_t now_ns = util::monotonic_ns();
  python::StackBatch& batch = python_.batch();
  const bool is_due = all || now_ns - batch_since_ns_ >= kBatchNs || batch.bytes() >= kPayloadBytes;
  if (batch.empty() || !is_due) return news;
  batch_since_ns_ = now_ns;
  news.python.push_back(batch.take());
  return news;
}

void Round::finish() {
  python_.finish();
  tasks_.finish();
  if (machine_) sample_machine(util::monotonic_ns());
}

SamplerState Round::state() const {
  SamplerState state;
  state.python = python_.state();
  state.cpu_ns = thread_cpu_ns() - began_cpu_ns_;
  state.wall_ns = util::monotonic_ns() - began_ns_;
  return state;
}

}  // namespace mlrun::rounds
