// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/python_sampler.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runner/samplers/python/interpreter.h"
#include "runner/samplers/python/look_budget.h"
#include "runner/samplers/python/stack_batch.h"
#include "runner/util/background_thread.h"
#include "runner/util/clock.h"
#include "runner/util/proc_files.h"

namespace mlrun::python {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(1);
constexpr size_t kPayloadsMax = 256;          // while the collector does not fetch them
constexpr size_t kPayloadBytes = 128 << 10;   // enough for a frame
constexpr uint64_t kBatchNs = 1'000'000'000;  // no sample waits longer for its frame
constexpr uint64_t kLookCpuNs = 100'000'000;  // a sample that takes longer is cut short
constexpr double kSavedNs = 100e6;            // saved CPU time for samples that take longer
constexpr uint64_t kShortestPauseNs = 50'000'000, kLongestPauseNs = 2'000'000'000;  // between searches in a process
constexpr size_t kProblemProcessesMax = 1000;
constexpr const char* kNeverWhole =
    "none of their stacks could be read: each time it changed meanwhile, or was not laid out as CPython does";

uint64_t thread_cpu_ns() { return util::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

struct PythonSampler::Shared {
  std::mutex mutex;
  std::atomic<bool> is_ending = false;  // for a sample in progress
  std::condition_variable wake, ended_changed;
  bool stop = false, ended = false, has_news = false;
  Clock::duration pause{};
  std::vector<collect::WatchedProcess> processes;
  std::vector<std::string> payloads;
  PythonSamplerState state;
};

// State of the thread only.
class PythonSampler::Looker {
 public:
  void take(const std::vector<collect::WatchedProcess>& processes, PythonSamplerState& state);
  void look(PythonSamplerState& state);
  // Reports on the processes when sampling ends.
  void finish(PythonSamplerState& state);

  StackBatch batch;
  const std::atomic<bool>* is_ending = nullptr;

 private:
  struct Process {
    collect::WatchedProcess who;
    std::unique_ptr<Interpreter> interpreter;  // null: not found
    bool is_hopeless = false;
    uint64_t next_search_ns = 0, search_pause_ns = kShortestPauseNs;
    uint64_t samples = 0, discarded = 0;
  };
  bool has_interpreter(Process& process, PythonSamplerState& state);
  static void give_up(Process& process, const std::string& why, PythonSamplerState& state);
  static void add_problem(const Process& process, const std::string& why, PythonSamplerState& state);
  static void end(const Process& process, PythonSamplerState& state);
  void look_at(Process& process, PythonSamplerState& state);
  [[nodiscard]] bool is_over() const {
    return *is_ending || batch.bytes() >= kPayloadBytes || thread_cpu_ns() - began_cpu_ns_ > kLookCpuNs;
  }

  uint64_t began_cpu_ns_ = 0;  // of this sample
  InterpreterFiles files_;
  std::map<uint32_t, Process> processes_;  // by number
};

// After an exec the process is searched again.
void PythonSampler::Looker::take(const std::vector<collect::WatchedProcess>& processes, PythonSamplerState& state) {
  std::map<uint32_t, Process> before = std::exchange(processes_, {});
  for (const collect::WatchedProcess& who : processes) {
    const auto known = before.find(who.number);
    const bool is_same =
        known != before.end() && known->second.who.image == who.image && known->second.who.host_pid == who.host_pid;
    if (!is_same) {
      processes_[who.number].who = who;
      continue;
    }
    processes_[who.number] = std::move(known->second);
    before.erase(known);
  }
  for (const auto& [number, process] : before) end(process, state);
}

void PythonSampler::Looker::finish(PythonSamplerState& state) {
  for (const auto& [number, process] : processes_) end(process, state);
}

void PythonSampler::Looker::end(const Process& process, PythonSamplerState& state) {
  if (process.samples == 0 && process.discarded > 0) add_problem(process, kNeverWhole, state);
}

bool PythonSampler::Looker::has_interpreter(Process& process, PythonSamplerState& state) {
  if (process.interpreter || process.is_hopeless) return process.interpreter != nullptr;
  const uint64_t now_ns = util::monotonic_ns();
  if (now_ns < process.next_search_ns) return false;
  process.next_search_ns = now_ns + process.search_pause_ns;
  process.search_pause_ns = std::min(2 * process.search_pause_ns, kLongestPauseNs);
  auto found = Interpreter::find(process.who.host_pid, files_);
  if (found) {
    process.interpreter = *std::move(found);
    return process.interpreter != nullptr;
  }
  give_up(process, found.error().text, state);
  return false;
}

void PythonSampler::Looker::give_up(Process& process, const std::string& why, PythonSamplerState& state) {
  process.is_hopeless = true;
  process.interpreter = nullptr;
  add_problem(process, why, state);
}

void PythonSampler::Looker::add_problem(const Process& process, const std::string& why, PythonSamplerState& state) {
  auto& problems = state.problems;
  auto problem =
      std::find_if(problems.begin(), problems.end(), [&](const PythonProblem& one) { return one.text == why; });
  if (problem == problems.end()) problem = problems.insert(problem, {why, {}});
  if (problem->processes.size() < kProblemProcessesMax) problem->processes.push_back(process.who.number);
}

void PythonSampler::Looker::look_at(Process& process, PythonSamplerState& state) {
  if (!has_interpreter(process, state)) return;
  const collect::WatchedProcess& who = process.who;
  const bool numbers_are_ours = who.pid == who.host_pid;
  Stack stack;
  const std::vector<Interpreter::Thread> threads = process.interpreter->threads();
  if (process.interpreter->last_error() == EPERM) return give_up(process, kRefused, state);
  for (const Interpreter::Thread& thread : threads) {
    if (is_over()) return;
    const int running = numbers_are_ours ? collect::thread_runs(who.host_pid, thread.tid) : -1;
    const uint64_t now_ns = util::monotonic_ns();
    bool discarded = false;
    if (process.interpreter->read_stack(thread, stack, discarded)) {
      batch.add(now_ns, {who.number, thread.tid, running}, stack);
      ++state.samples;
      ++process.samples;
    } else if (discarded && process.interpreter->last_error() != ESRCH) {
      ++state.discarded;
      ++process.discarded;
    }
  }
}

void PythonSampler::Looker::look(PythonSamplerState& state) {
  began_cpu_ns_ = thread_cpu_ns();
  for (auto& [number, process] : processes_) look_at(process, state);
  if (is_over()) ++state.looks_left_out;  // incomplete sample
}

PythonSampler::PythonSampler(double looks_per_second) : shared_(std::make_shared<Shared>()) {
  shared_->pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / looks_per_second));
  const std::string problem = util::start_background_thread([shared = shared_] { run(shared); });
  if (problem.empty()) return;
  shared_->state.problem = problem;
  shared_->ended = true;
}

PythonSampler::~PythonSampler() { stop(); }

void PythonSampler::watch(std::vector<collect::WatchedProcess> processes) {
  const std::lock_guard lock(shared_->mutex);
  shared_->processes = std::move(processes);
  shared_->has_news = true;
}

void PythonSampler::stop() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = shared_->is_ending = true;
  shared_->wake.notify_all();
  shared_->ended_changed.wait_for(lock, kPatience, [&] { return shared_->ended; });
}

std::vector<std::string> PythonSampler::fetch() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->payloads, {});
}

PythonSamplerState PythonSampler::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

void PythonSampler::run(const std::shared_ptr<Shared>& shared) {
  pthread_setname_np(pthread_self(), "mlrun-python");
  Looker looker;
  looker.is_ending = &shared->is_ending;
  PythonSamplerState state;
  uint64_t batch_since_ns = util::monotonic_ns();
  LookBudget budget(kShareMax, kSavedNs, batch_since_ns);
  Clock::time_point due = Clock::now();
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    if (std::exchange(shared->has_news, false)) looker.take(shared->processes, state);
    lock.unlock();
    const uint64_t now_ns = util::monotonic_ns();
    if (budget.allows(now_ns)) {
      const uint64_t cpu_ns = thread_cpu_ns();
      try {
        looker.look(state);
      } catch (const std::exception& error) {
        state.problem = std::string("it ended early: ") + error.what();
      }
      const uint64_t took_ns = thread_cpu_ns() - cpu_ns;
      budget.take(took_ns);
      state.cpu_ns += took_ns;
      ++state.looks;
    } else {
      ++state.looks_left_out;
    }
    std::string payload;
    uint64_t rows = 0;
    if (!looker.batch.empty() && (now_ns - batch_since_ns >= kBatchNs || looker.batch.bytes() >= kPayloadBytes)) {
      batch_since_ns = now_ns;
      rows = looker.batch.samples();
      payload = looker.batch.take();
    }
    lock.lock();
    const bool has_room = shared->payloads.size() < kPayloadsMax && payload.size() <= collect::Spool::kPayloadMax;
    if (!has_room) state.rows_dropped += rows;
    if (!payload.empty() && has_room) shared->payloads.push_back(std::move(payload));
    shared->state = state;
    if (!state.problem.empty()) break;
    for (due += shared->pause; due < Clock::now();) due += shared->pause;
    shared->wake.wait_until(lock, due, [&] { return shared->stop; });
  }
  if (!looker.batch.empty()) {
    const uint64_t rows = looker.batch.samples();
    std::string payload = looker.batch.take();
    if (payload.size() <= collect::Spool::kPayloadMax)
      shared->payloads.push_back(std::move(payload));
    else
      state.rows_dropped += rows;
  }
  looker.finish(state);
  shared->state = std::move(state);
  shared->ended = true;
  shared->ended_changed.notify_all();
}

}  // namespace mlrun::python
