// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/python/stack_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/proc_files.h"

namespace mlrun::python {

namespace {

constexpr size_t kProblemProcessesMax = 1000, kAncestorsMax = 16;
constexpr uint64_t kListsOfOthers = 4;  // processes that do not drive are listed after this many pauses
constexpr const char* kNeverWhole =
    "none of their stacks could be read: each one changed while it was read, or did not have CPython's layout";

// The host pids of a process's ancestors up to mlrun, the parent first.
std::vector<uint32_t> ancestors_of(uint32_t host_pid) {
  std::vector<uint32_t> found;
  const auto self = static_cast<uint32_t>(::getpid());
  for (uint32_t pid = host_pid; found.size() < kAncestorsMax;) {
    const auto stat = util::read_proc_stat(pid);
    if (!stat || stat->ppid <= 1 || stat->ppid == self) return found;
    found.push_back(pid = stat->ppid);
  }
  return found;
}

// The process's rank in its environment at exec; empty: none. Variables that the program sets later are not seen.
std::string rank_of(uint32_t host_pid) {
  constexpr size_t kEnvironmentMax = 1 << 20;
  const std::string text = '\0' + util::read_text(fmt::format("/proc/{}/environ", host_pid), kEnvironmentMax);
  for (const std::string_view name : {"RANK=", "LOCAL_RANK="}) {
    const size_t found = text.find('\0' + std::string(name));
    if (found == std::string::npos) continue;
    const size_t value = found + 1 + name.size();
    return text.substr(value, text.find('\0', value) - value);
  }
  return {};
}

bool is_called_python(uint32_t host_pid) { return util::read_comm(host_pid, host_pid).starts_with("python"); }

}  // namespace

void StackSampler::take(const std::vector<collect::WatchedProcess>& processes) {
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
  for (const auto& [number, process] : before) end(process);
  are_drivers_known_ = false;
}

void StackSampler::pause(bool is_paused) {
  is_paused_ = is_paused;
  if (!is_paused) return;
  batch_.end_rows();
  // Threads that are listed again have no earlier sample.
  for (auto& [number, process] : processes_) {
    process.threads.clear();
    process.listed_ns = 0;
  }
}

void StackSampler::finish() {
  for (const auto& [number, process] : processes_) end(process);
}

void StackSampler::end(const Process& process) {
  if (!process.is_hopeless && process.samples == 0 && process.discarded > 0) add_problem(process, kNeverWhole);
}

void StackSampler::search(Process& process) {
  process.next_search_ns = util::monotonic_ns() + process.search_pause_ns;
  process.search_pause_ns = std::min(2 * process.search_pause_ns, options_.search_pause_max_ns);
  auto found = Interpreter::find(process.who.host_pid, files_);
  if (!found) {
    const bool is_reported =
        options_.by_name || found.error().text != kRefused || is_called_python(process.who.host_pid);
    return give_up(process, is_reported ? found.error().text : std::string());
  }
  process.interpreter = *std::move(found);
  if (!process.interpreter) return;
  process.ancestors = ancestors_of(process.who.host_pid);
  process.rank = rank_of(process.who.host_pid);
  are_drivers_known_ = false;
}

void StackSampler::give_up(Process& process, const std::string& why) {
  process.is_hopeless = true;
  process.interpreter = nullptr;
  process.threads.clear();
  if (!why.empty()) add_problem(process, why);
}

void StackSampler::add_problem(const Process& process, const std::string& why) {
  auto& problems = state_.problems;
  auto problem = std::find_if(problems.begin(), problems.end(), [&](const auto& one) { return one.text == why; });
  if (problem == problems.end()) problem = problems.insert(problem, {why, {}});
  if (problem->processes.size() < kProblemProcessesMax) problem->processes.push_back(process.who.number);
}

void StackSampler::find_drivers() {
  std::unordered_map<uint32_t, Process*> pythons;  // by host pid
  for (auto& [number, process] : processes_) {
    if (process.interpreter) pythons[process.who.host_pid] = &process;
  }
  std::vector<Process*> launchers;
  for (const auto& [host_pid, process] : pythons) {
    const auto above = std::find_if(process->ancestors.begin(), process->ancestors.end(),
                                    [&](uint32_t pid) { return pythons.contains(pid); });
    Process* const parent = above == process->ancestors.end() ? nullptr : pythons[*above];
    const bool has_own_rank = parent && !process->rank.empty() && process->rank != parent->rank;
    process->drives = !parent || has_own_rank;
    if (has_own_rank && parent->rank.empty()) launchers.push_back(parent);
  }
  for (Process* launcher : launchers) launcher->drives = false;
  are_drivers_known_ = true;
}

void StackSampler::leave_out(uint64_t rounds) {
  if (is_paused_) return;
  state_.rounds += rounds;
  state_.rounds_left_out += rounds;
}

// Lists the threads of a process. Known threads keep their data.
void StackSampler::list(Process& process) {
  const std::vector<Interpreter::Thread> found = process.interpreter->threads();
  process.listed_ns = util::monotonic_ns();
  if (process.interpreter->last_error() == EPERM) return give_up(process, kRefused);
  std::map<Interpreter::Thread, Thread> before;
  for (Thread& thread : process.threads) before.emplace(thread.id, std::move(thread));
  process.threads.clear();
  for (const Interpreter::Thread& id : found) {
    const auto known = before.find(id);
    Thread& thread = process.threads.emplace_back();
    if (known != before.end()) thread = std::move(known->second);
    thread.id = id;
  }
}

void StackSampler::sample_thread(Process& process, Thread& thread) {
  proc::Task* const task = tasks_.find(process.who.host_pid, thread.id.tid);
  const uint64_t now_ns = util::monotonic_ns();
  const bool is_there = task && tasks_.sample(*task, now_ns);
  const proc::Task::Sight sight = is_there ? task->sight() : proc::Task::Sight{};
  const bool sleeps_on = sight.is_asleep() && sight == thread.sight && !thread.stack.frames.empty();
  const uint64_t period_ns = thread.known_ns == 0 ? options_.pause_ns : now_ns - thread.known_ns;
  const uint64_t known_ns = std::exchange(thread.known_ns, now_ns);
  const StackBatch::Who who{process.who.number, thread.id.tid, sight.state, thread.id.state};
  thread.sampled_ns = now_ns;
  thread.sight = sight;
  bool discarded = false;
  if (sleeps_on && batch_.extend(now_ns, period_ns, who)) {
    ++state_.samples;
    ++process.samples;
    return;
  }
  if (sleeps_on || process.interpreter->read_stack(thread.id, process.drives, thread.stack, discarded)) {
    batch_.add(now_ns, period_ns, who, thread.stack);
    ++state_.samples;
    ++process.samples;
    return;
  }
  thread.stack.frames.clear();
  if (discarded) thread.known_ns = known_ns;  // the period of the next sample then includes this time
  if (discarded && process.interpreter->last_error() != ESRCH) {
    ++state_.discarded;
    ++process.discarded;
  }
}

// Samples the threads that are due. False: not all of them. If the budget is too small for all, main threads and threads
// that ran at their previous sample are sampled four times as often: most of the rest are helpers that wait.
bool StackSampler::sample_due(bool drivers, const GoOn& go_on) {
  constexpr uint64_t kWeight = 4;
  const uint64_t now_ns = util::monotonic_ns();
  if (!go_on()) return false;
  std::vector<std::tuple<uint64_t, Process*, size_t>> due;
  for (auto& [number, process] : processes_) {
    for (size_t i = 0; i < process.threads.size(); ++i) {
      const Thread& thread = process.threads[i];
      const bool is_main = thread.id.tid == process.who.pid, is_driver = process.drives && is_main;
      // Rounds are at least half a pause apart, so a thread is due after a little less than that.
      if (is_driver == drivers && now_ns - thread.sampled_ns >= options_.pause_ns * 2 / 5)
        due.emplace_back((now_ns - thread.sampled_ns) * (is_main || thread.sight.state == 'R' ? kWeight : 1), &process,
                         i);
    }
  }
  std::sort(due.begin(), due.end(), std::greater());
  for (const auto& [waited_ns, process, i] : due) {
    if (!go_on()) return false;
    sample_thread(*process, process->threads[i]);
  }
  return true;
}

void StackSampler::sample(const GoOn& drivers, const GoOn& others, const std::function<void()>& between) {
  if (is_paused_) return between();
  const uint64_t now_ns = util::monotonic_ns();
  if (!are_drivers_known_) find_drivers();
  const auto list_due = [&](bool of_drivers, const GoOn& go_on) {
    const uint64_t pause_ns = (of_drivers ? 1 : kListsOfOthers) * options_.list_pause_ns;
    for (auto& [number, process] : processes_) {
      const bool is_due = process.interpreter && process.drives == of_drivers && process.listed_ns + pause_ns <= now_ns;
      if (is_due && go_on()) list(process);
    }
  };
  list_due(true, drivers);
  bool all = sample_due(true, drivers);
  between();
  for (auto& [number, process] : processes_) {
    const bool is_due = !process.interpreter && !process.is_hopeless && now_ns >= process.next_search_ns;
    if (is_due && others()) search(process);
  }
  list_due(false, others);
  all = sample_due(false, others) && all;
  ++state_.rounds;
  if (!all) ++state_.rounds_left_out;
}

uint64_t StackSampler::due_ns(uint64_t now_ns) const {
  uint64_t due_ns = UINT64_MAX;
  if (is_paused_) return due_ns;
  for (const auto& [number, process] : processes_) {
    if (process.interpreter) return now_ns + options_.pause_ns;
    if (!process.is_hopeless) due_ns = std::min(due_ns, process.next_search_ns);
  }
  return due_ns;
}

}  // namespace mlrun::python
