// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/wait_ends.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

namespace mlrun::blame {

namespace {

constexpr Ns kSoonNs = 10'000'000;  // a read that begins so soon after a poll is what the poll was for
constexpr Ns kAgainNs = 2'000'000;  // a thread that waits again after so little work did not get what it waited for
constexpr Ns kNearNs = 300'000;     // a thread that posts is running, or began to wait less than this before or after
constexpr size_t kAgainMost = 12;   // number of later waits that are searched for a repetition
constexpr size_t kSharersMost = 8;

bool may_be_shared(const Wait& wait) {
  return wait.kind == WaitKind::kLock && wait.poster == 0 && !wait.condition && wait.err == 0;
}

// An id for semaphores that may be the same one: the address, for forked processes. Processes spawned by multiprocessing map a semaphore at different
// addresses; all of their semaphores with one parent count as one. 0: neither forked nor spawned.
int64_t lock_of(const Process& process, const Wait& wait) {
  if (process.forked) return wait.argument;
  const bool spawned = !process.is_helper() && process.command.find("multiprocessing") != std::string::npos;
  return spawned ? -1 - int64_t{process.parent} : 0;
}

bool is_on_channel(const Wait& wait) { return wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kChannelRead; }

}  // namespace

WaitEnds::WaitEnds(const Timeline& timeline) : timeline_(timeline) {
  for (const Process& process : timeline.processes) {
    if (process.proc_id != 0 && process.parent != 0) children_[process.parent].push_back(&process);
  }
  for (auto& [parent, list] : children_) {
    std::sort(list.begin(), list.end(), [](const Process* a, const Process* b) { return a->last_ns < b->last_ns; });
  }
  find_shared_locks();
}

// Finds semaphores that processes share. A thread that takes a queue's lock reads or writes the queue at once; such locks are left out.
void WaitEnds::find_shared_locks() {
  constexpr Ns kAtOnceNs = 200'000;
  struct Use {
    std::unordered_set<int32_t> processes;
    int64_t waits = 0, of_queue = 0;
  };
  std::unordered_map<int64_t, Use> locks;
  for (const Process& process : timeline_.processes) {
    // Without recorded posts, a wait may as well be for a thread of the same process.
    if (!timeline_.has_posts || process.main == 0) continue;
    const Thread& thread = timeline_.thread(process.main);
    for (size_t i = 0; i < thread.waits.size(); ++i) {
      const Wait& wait = thread.waits[i];
      const int64_t lock = lock_of(process, wait);
      if (lock == 0 || !may_be_shared(wait) || timeline_.is_python_lock(process.proc_id, wait)) continue;
      Use& use = locks[lock];
      use.processes.insert(process.proc_id);
      ++use.waits;
      const auto soon = [&](Ns moment_ns) { return moment_ns - wait.end_ns < kAtOnceNs; };
      const auto read = std::partition_point(thread.reads.begin(), thread.reads.end(),
                                             [&](const Read& one) { return one.start_ns < wait.end_ns; });
      const Wait* next = i + 1 < thread.waits.size() ? &thread.waits[i + 1] : nullptr;
      const bool waits_on =
          next != nullptr && soon(next->start_ns) && (is_on_channel(*next) || next->kind == WaitKind::kChannelWrite);
      use.of_queue += waits_on || (read != thread.reads.end() && soon(read->start_ns)) ? 1 : 0;
    }
  }
  for (const auto& [lock, use] : locks) {
    if (use.processes.size() > 1 && 2 * use.of_queue < use.waits) shared_locks_.insert(lock);
  }
}

bool WaitEnds::is_shared_lock(int32_t thread_id, const Wait& wait) const {
  const Process& process = timeline_.process_of(thread_id);
  // The other threads of a spawned worker only pass batches on.
  const bool is_main = process.forked || process.main == thread_id;
  return is_main && may_be_shared(wait) && shared_locks_.contains(lock_of(process, wait));
}

const Ender& WaitEnds::find(int32_t thread_id, const Wait& first, bool looks_on) {
  const Wait& wait = last_of(thread_id, first);
  const auto known = known_.find(&wait);
  if (known != known_.end()) return known->second;
  known_[&wait];  // marks the wait as visited: a chain that returns to it ends here
  Ender found = search(thread_id, wait, looks_on);
  std::erase(found.threads, thread_id);
  if (found.threads.size() > kSharersMost) found.threads.resize(kSharersMost);
  return known_[&wait] = std::move(found);
}

const Read* WaitEnds::read_after(int32_t thread_id, const Wait& wait) const {
  const auto& reads = timeline_.thread(thread_id).reads;
  const auto at =
      std::partition_point(reads.begin(), reads.end(), [&](const Read& read) { return read.start_ns < wait.start_ns; });
  if (at == reads.end()) return nullptr;
  if (wait.kind == WaitKind::kChannelRead) return at->start_ns == wait.start_ns ? &*at : nullptr;
  return at->start_ns - wait.end_ns < kSoonNs ? &*at : nullptr;
}

// The thread that wrote first into the channel after the wait began and before the read ended. A write that had begun before the wait counts only if
// there is no later one. A socket is read at the other end than it is written, a pipe has one file.
int32_t WaitEnds::writer(int32_t thread_id, const Wait& wait) const {
  const Read* read = read_after(thread_id, wait);
  if (read == nullptr) return 0;
  int32_t found = 0;
  const bool is_socket = timeline_.kind(read->file_id) == model::FileKind::kSocket;
  for (const int64_t file_id : {is_socket ? 0 : read->file_id, timeline_.peer(read->file_id)}) {
    const auto* messages = file_id == 0 ? nullptr : timeline_.find_messages(file_id);
    if (messages == nullptr) continue;
    auto at = std::partition_point(messages->begin(), messages->end(),
                                   [&](const Message& one) { return one.start_ns <= read->end_ns; });
    while (at != messages->begin()) {
      --at;
      const bool is_old = at->start_ns < wait.start_ns;
      if (at->end_ns < wait.start_ns || (is_old && found != 0)) break;
      if (at->thread_id != thread_id) found = at->thread_id;
    }
  }
  return found;
}

// If the thread waits again at once on the same channel, it did not get what it waited for: returns what ended the later wait, else nullptr.
const Ender* WaitEnds::next_on_channel(int32_t thread_id, const Wait& wait) {
  const Thread& thread = timeline_.thread(thread_id);
  const Read* read = read_after(thread_id, wait);
  Ns free_ns = 0, at_ns = wait.end_ns;
  const size_t first = thread.first_wait(wait.end_ns);
  for (size_t i = first; i < thread.waits.size() && i < first + kAgainMost; ++i) {
    const Wait& next = thread.waits[i];
    free_ns += std::max<Ns>(0, next.start_ns - at_ns);
    at_ns = next.end_ns;
    if (free_ns > kAgainNs) return nullptr;
    if (!is_on_channel(next)) continue;
    const Read* again = read_after(thread_id, next);
    if (again == nullptr || (read != nullptr && again->file_id != read->file_id)) continue;
    constexpr Ns kShortNs = 100'000;
    if (next.dur_ns() >= kShortNs) return &find(thread_id, next, true);
  }
  return nullptr;
}

// The child process whose end a poll waited for, by polling its sentinel: no read follows such a poll.
int32_t WaitEnds::ended_child(int32_t thread_id, const Wait& wait) const {
  constexpr Ns kSlackNs = 1'000'000;
  const auto children = children_.find(timeline_.thread(thread_id).proc_id);
  if (children == children_.end()) return 0;
  const auto& list = children->second;
  auto after = std::partition_point(list.begin(), list.end(),
                                    [&](const Process* one) { return one->last_ns <= wait.end_ns + kSlackNs; });
  if (after == list.begin()) return 0;
  const Process* latest = *(after - 1);
  return latest->last_ns < wait.start_ns - kSlackNs ? 0 : latest->main;
}

int32_t WaitEnds::waited_child(int32_t thread_id, const Wait& wait) const {
  const Thread& thread = timeline_.thread(thread_id);
  int32_t nearest = 0;
  Ns distance_ns = std::numeric_limits<Ns>::max();
  const auto take = [&](int32_t who, Ns last_ns) {
    if (std::abs(last_ns - wait.end_ns) >= distance_ns) return;
    nearest = who;
    distance_ns = std::abs(last_ns - wait.end_ns);
  };
  if (!wait.joins_thread) {
    const auto children = children_.find(thread.proc_id);
    if (children == children_.end()) return 0;
    for (const Process* child : children->second) {
      const bool fits = wait.argument <= 0 || child->pid == wait.argument;
      if (fits && child->first_ns < wait.end_ns) take(child->main, child->last_ns);
    }
    return nearest;
  }
  constexpr Ns kSlackNs = 50'000'000;
  for (const int32_t other : timeline_.process(thread.proc_id).threads) {
    const Ns last_ns = timeline_.thread(other).last_ns;
    if (other != thread_id && std::abs(last_ns - wait.end_ns) < kSlackNs) take(other, last_ns);
  }
  return nearest;
}

int32_t WaitEnds::waker(int32_t thread_id, const Wait& wait) const {
  constexpr Ns kSlackNs = 1'000'000;
  const auto& sleeps = timeline_.thread(thread_id).sleeps;
  auto at = std::partition_point(sleeps.begin(), sleeps.end(),
                                 [&](const Sleep& one) { return one.end_ns <= wait.end_ns + kSlackNs; });
  while (at != sleeps.begin()) {
    --at;
    if (at->end_ns <= wait.start_ns) break;
    if (at->preempted || at->start_ns >= wait.end_ns || 10 * (at->end_ns - at->start_ns) <= 3 * wait.dur_ns()) continue;
    const int32_t who = timeline_.threads_by_tid.find(at->waker_tid, at->wake_ns);
    return who == thread_id ? 0 : who;
  }
  return 0;
}

// Threads of the process that may have posted at the end of the wait: they are in no recorded wait then, or in one that has just begun. If several
// run and some have Python samples, only these.
std::vector<int32_t> WaitEnds::neighbours(int32_t thread_id, const Wait& wait) const {
  const Ns end_ns = wait.end_ns;
  std::vector<int32_t> busy;
  std::pair<Ns, int32_t> just{std::numeric_limits<Ns>::max(), 0};
  const int32_t proc_id = timeline_.thread(thread_id).proc_id;
  for (const int32_t other : timeline_.process(proc_id).threads) {
    const Thread& thread = timeline_.thread(other);
    if (other == thread_id || thread.first_ns > end_ns) continue;
    const size_t number = thread.first_wait(end_ns);
    const Wait* next = number < thread.waits.size() ? &thread.waits[number] : nullptr;
    if (next != nullptr && next->start_ns < end_ns) {
      if (timeline_.is_python_lock(proc_id, *next)) {
        busy.push_back(other);  // it posted before it waited for Python's lock
      } else if (end_ns - next->start_ns < kNearNs) {
        just = std::min(just, {end_ns - next->start_ns, other});
      }
      continue;
    }
    if (thread.last_ns < end_ns - kNearNs) continue;
    if (next != nullptr && next->start_ns - end_ns < kNearNs) {
      just = std::min(just, {next->start_ns - end_ns, other});
    } else {
      busy.push_back(other);
    }
  }
  if (just.second != 0) return {just.second};
  std::vector<int32_t> python;
  std::copy_if(busy.begin(), busy.end(), std::back_inserter(python),
               [&](int32_t one) { return !timeline_.thread(one).samples.empty(); });
  return python.empty() ? busy : python;
}

int32_t WaitEnds::reader_of(int32_t thread_id, int64_t file_id) {
  if (readers_.empty()) {
    readers_[0] = 0;
    for (const Thread& thread : timeline_.threads) {
      for (const Read& read : thread.reads) readers_.emplace(read.file_id, thread.thread_id);
    }
  }
  for (const int64_t end : {file_id, timeline_.peer(file_id)}) {
    const auto found = end == 0 ? readers_.end() : readers_.find(end);
    if (found != readers_.end() && found->second != thread_id) return found->second;
  }
  return 0;
}

Ender WaitEnds::search(int32_t thread_id, const Wait& wait, bool looks_on) {
  if (wait.poster != 0 && wait.kind == WaitKind::kLock) return {{wait.poster}, Link::kPost};
  if (wait.poster != 0 && wait.joins_thread) return {{wait.poster}, Link::kChild};
  if (is_on_channel(wait)) {
    const Ender* later = looks_on ? next_on_channel(thread_id, wait) : nullptr;
    if (later != nullptr) return *later;
    if (const int32_t who = writer(thread_id, wait)) return {{who}, Link::kPipe};
  }
  if (wait.kind == WaitKind::kPoll && read_after(thread_id, wait) == nullptr) {
    if (const int32_t child = ended_child(thread_id, wait)) return {{child}, Link::kEnds};
  }
  if (wait.kind == WaitKind::kChild) {
    if (const int32_t child = waited_child(thread_id, wait)) return {{child}, Link::kChild};
  }
  if (is_on_channel(wait) || wait.kind == WaitKind::kLock || wait.kind == WaitKind::kChild) {
    if (const int32_t who = waker(thread_id, wait)) return {{who}, Link::kWaker};
  }
  // A polling thread got what it asked for when it does not sleep again.
  if (wait.polls) {
    if (const int32_t who = writer(thread_id, wait)) return {{who}, Link::kPipe};
    std::vector<int32_t> who = neighbours(thread_id, wait);
    // Threads of native libraries, which wait without a recorded call, have no Python samples: they are left out.
    const bool seen = !timeline_.thread(thread_id).samples.empty();
    std::erase_if(who, [&](int32_t one) { return seen && timeline_.thread(one).samples.empty(); });
    return {who, Link::kGuess};
  }
  if (wait.kind == WaitKind::kLock && wait.err != ETIMEDOUT) return {neighbours(thread_id, wait), Link::kGuess};
  if (wait.kind == WaitKind::kChannelWrite) {
    if (const int32_t reader = reader_of(thread_id, wait.file_id)) return {{reader}, Link::kPipe};
  }
  return {};
}

// The next sleep of the same polling loop; nullptr: none.
const Wait* WaitEnds::next_poll(int32_t thread_id, const Wait& wait) const {
  const Thread& thread = timeline_.thread(thread_id);
  Ns end_ns = wait.end_ns;
  for (size_t i = thread.first_wait(wait.end_ns); i < thread.waits.size(); ++i) {
    const Wait& next = thread.waits[i];
    if (next.start_ns - end_ns >= kPollsApartNs) return nullptr;
    const bool passes = next.asks() || timeline_.is_python_lock(thread.proc_id, next);
    if (!passes) return next.polls ? &next : nullptr;
    end_ns = next.end_ns;
  }
  return nullptr;
}

// The repetition of a wait that timed out, or of a polling loop's sleep: a wait made at once and for the same thing; nullptr: none.
const Wait* WaitEnds::made_again(int32_t thread_id, const Wait& wait) const {
  constexpr Ns kBetweenNs = 5'000'000, kSameBetweenNs = 200'000;
  constexpr int64_t kLongMs = 1000;
  if (wait.polls) return next_poll(thread_id, wait);
  const bool is_poll = wait.kind == WaitKind::kPoll && wait.ret == 0;
  if (!is_poll && (wait.kind != WaitKind::kLock || wait.err != ETIMEDOUT)) return nullptr;
  const Thread& thread = timeline_.thread(thread_id);
  const size_t number = thread.first_wait(wait.end_ns);
  if (number == thread.waits.size()) return nullptr;
  const Wait& next = thread.waits[number];
  const Ns free_ns = next.start_ns - wait.end_ns;
  bool again = next.kind == wait.kind && next.argument == wait.argument && free_ns < kSameBetweenNs;
  if (is_poll) {
    again = is_on_channel(next) &&
            ((free_ns < kBetweenNs && wait.argument >= kLongMs) || (free_ns < kSameBetweenNs && next.fd == wait.fd));
  }
  return again ? &next : nullptr;
}

const Wait& WaitEnds::last_of(int32_t thread_id, const Wait& wait) {
  std::vector<const Wait*> passed;
  const Wait* at = &wait;
  for (const Wait* next = at; next != nullptr; next = made_again(thread_id, *at)) {
    at = next;
    const auto known = last_of_.find(at);
    if (known != last_of_.end()) {
      at = known->second;
      break;
    }
    passed.push_back(at);
  }
  for (const Wait* one : passed) last_of_[one] = at;
  return *at;
}

// Whether the scheduler counted the thread as asleep, outside of recorded calls, for most of the interval around the moment.
bool WaitEnds::is_asleep(const Thread& thread, Ns moment_ns) {
  const auto row = std::partition_point(thread.usage.begin(), thread.usage.end(),
                                        [&](const Usage& one) { return one.end_ns <= moment_ns; });
  return row != thread.usage.end() && row->start_ns <= moment_ns && row->asleep > 0.5;
}

std::vector<int32_t> WaitEnds::holders(int32_t proc_id, int32_t thread_id, Ns moment_ns) const {
  constexpr Ns kWithinNs = 30'000'000;
  std::vector<int32_t> free, running, awake;
  for (const int32_t other : timeline_.process(proc_id).threads) {
    const Thread& thread = timeline_.thread(other);
    if (other == thread_id || thread.first_ns > moment_ns || thread.last_ns < moment_ns) continue;
    const size_t number = thread.first_wait(moment_ns);
    if (number < thread.waits.size() && thread.waits[number].start_ns <= moment_ns) continue;
    free.push_back(other);
    const StackSample* sample = sample_near(other, moment_ns, kWithinNs);
    if (sample != nullptr && sample->running == 1) running.push_back(other);
    if (!is_asleep(thread, moment_ns)) awake.push_back(other);  // an idle thread of a pool cannot hold the lock
  }
  if (!running.empty()) return running;
  return awake.empty() ? free : awake;
}

const StackSample* WaitEnds::sample_near(int32_t thread_id, Ns moment_ns, Ns within_ns) const {
  const Thread& thread = timeline_.thread(thread_id);
  const size_t after = thread.first_sample(moment_ns);
  const StackSample* nearest = nullptr;
  Ns distance_ns = within_ns + 1;
  for (size_t i = after == 0 ? 0 : after - 1; i < thread.samples.size() && i <= after; ++i) {
    const StackSample& sample = thread.samples[i];
    const Ns away_ns =
        moment_ns < sample.start_ns ? sample.start_ns - moment_ns : std::max<Ns>(0, moment_ns - sample.end_ns);
    if (away_ns >= distance_ns) continue;
    nearest = &sample;
    distance_ns = away_ns;
  }
  return nearest;
}

}  // namespace mlrun::blame
