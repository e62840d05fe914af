// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/rounds/sampler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "runner/collect/spool_writer.h"
#include "runner/samplers/rounds/round.h"
#include "runner/samplers/rounds/short_slice.h"
#include "runner/util/clock.h"
#include "runner/util/row_buffer.h"
#include "runner/util/sampler_thread.h"

namespace mlrun::rounds {

namespace {

constexpr std::chrono::seconds kPatience(1);
constexpr size_t kPayloadsMax = 256, kRowsMax = 200'000;  // buffered until the collector fetches them

bool is_same(const std::vector<collect::WatchedProcess>& a, const std::vector<collect::WatchedProcess>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.number == other.number && one.image == other.image && one.host_pid == other.host_pid;
  });
}

// A payload begins with the number of its rows.
uint64_t rows_of(const std::string& payload) {
  uint32_t rows = 0;
  __builtin_memcpy(&rows, payload.data(), sizeof rows);
  return rows;
}

}  // namespace

struct Sampler::Shared : util::SamplerShared {
  std::atomic<bool> is_ending = false;  // makes a round in progress end early
  bool has_news = false, is_paused = false;
  SamplerOptions options;
  std::vector<collect::WatchedProcess> processes;
  News news;
  SamplerState state;

  void add(News results, const SamplerState& now) {
    int64_t dropped = state.rows_dropped, python_dropped = state.python.rows_dropped;
    const auto thread_rows = state.thread_rows + static_cast<int64_t>(results.threads.size());
    const auto machine_rows = state.machine_rows + static_cast<int64_t>(results.machine.size());
    dropped += util::move_rows(results.threads, news.threads, kRowsMax) +
               util::move_rows(results.machine, news.machine, kRowsMax);
    for (std::string& payload : results.python) {
      if (news.python.size() < kPayloadsMax && payload.size() <= collect::Spool::kPayloadMax)
        news.python.push_back(std::move(payload));
      else
        python_dropped += rows_of(payload);
    }
    state = now;
    state.thread_rows = thread_rows;
    state.machine_rows = machine_rows;
    state.rows_dropped = dropped;
    state.python.rows_dropped = python_dropped;
  }
};

Sampler::Sampler(const SamplerOptions& options) : shared_(std::make_shared<Shared>()) {
  shared_->options = options;
  util::start_sampler_thread(shared_, "mlrun-rounds", [shared = shared_] { sample(*shared); });
}

Sampler::~Sampler() { stop(); }

void Sampler::watch(std::vector<collect::WatchedProcess> processes, bool is_paused) {
  std::sort(processes.begin(), processes.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  const std::lock_guard lock(shared_->mutex);
  if (is_paused == shared_->is_paused && is_same(processes, shared_->processes)) return;
  shared_->is_paused = is_paused;
  shared_->processes = std::move(processes);
  shared_->has_news = true;
  shared_->wake.notify_all();
}

void Sampler::stop() {
  shared_->is_ending = true;
  shared_->end(kPatience);
}

Sampler::News Sampler::fetch() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->news, {});
}

SamplerState Sampler::state() const {
  const std::lock_guard lock(shared_->mutex);
  SamplerState state = shared_->state;
  state.problem = shared_->problem;
  return state;
}

void Sampler::sample(Shared& shared) {
  ask_for_short_slices();
  Round round(shared.options, shared.is_ending);
  std::unique_lock lock(shared.mutex);
  while (!shared.stop) {
    const bool has_news = !round.is_exhausted() && std::exchange(shared.has_news, false);
    const std::vector<collect::WatchedProcess> processes = has_news ? shared.processes : decltype(shared.processes)();
    const bool is_paused = shared.is_paused;
    lock.unlock();
    if (has_news) round.take(processes, is_paused);
    round.go();
    News results = round.results(false);
    const std::chrono::nanoseconds due(round.due_ns());  // the steady clock is CLOCK_MONOTONIC
    lock.lock();
    shared.add(std::move(results), round.state());
    const bool takes_news = !round.is_exhausted();
    shared.wake.wait_until(lock, std::chrono::steady_clock::time_point(due),
                           [&] { return shared.stop || (shared.has_news && takes_news); });
  }
  lock.unlock();
  round.finish();
  News results = round.results(true);
  lock.lock();
  shared.add(std::move(results), round.state());
}

}  // namespace mlrun::rounds
