// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/driver.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_set>

namespace mlrun::blame {

namespace {

constexpr Ns kShortNs = 100'000'000;                                  // in a shorter wait no other thread takes over
constexpr Ns kThreadEndNs = 20'000'000, kProcessEndNs = 300'000'000;  // most time between its end and the wait's

// A process that sends what the waiting thread reads is a worker; it does not drive.
bool sends_to(const Timeline& timeline, int32_t proc_id, int32_t reader) {
  std::unordered_set<int64_t> read;
  for (const Read& one : timeline.thread(reader).reads) read.insert(one.file_id);
  constexpr size_t kMost = 50;
  for (const int64_t file_id : read) {
    const auto* messages = timeline.find_messages(file_id);
    if (messages == nullptr) continue;
    const size_t count = std::min(kMost, messages->size());
    for (size_t i = 0; i < count; ++i) {
      if (timeline.thread((*messages)[i].thread_id).proc_id == proc_id) return true;
    }
  }
  return false;
}

// Whether two commands differ only in numbers, such as descriptors, ports and ranks.
bool is_same_command(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, k = 0;
  for (;;) {
    while (i < a.size() && is_digit(a[i])) ++i;
    while (k < b.size() && is_digit(b[k])) ++k;
    if (i == a.size() || k == b.size()) return i == a.size() && k == b.size();
    if (a[i++] != b[k++]) return false;
  }
}

Ns life_in(Ns first_ns, Ns last_ns, const Wait& wait) {
  return std::min(last_ns, wait.end_ns) - std::max(first_ns, wait.start_ns);
}

bool lived_in(Ns first_ns, Ns last_ns, const Wait& wait, Ns end_slack_ns) {
  const Ns longest_ns = std::max(wait.dur_ns(), last_ns - first_ns);
  return std::abs(last_ns - wait.end_ns) < end_slack_ns && 2 * life_in(first_ns, last_ns, wait) > longest_ns;
}

// If torchrun restarted a rank, several processes have its number: the one that lived longest is most of the run.
bool leads_before(const Process& a, const Process& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.last_ns - a.first_ns > b.last_ns - b.first_ns;
}

}  // namespace

int32_t find_driver(const Timeline& timeline, int32_t wanted_tid) {
  if (wanted_tid != 0) {
    const Thread* longest = nullptr;
    for (const Thread& thread : timeline.threads) {
      if (thread.thread_id == 0 || thread.tid != wanted_tid) continue;
      if (longest == nullptr || thread.life_ns() >= longest->life_ns()) longest = &thread;
    }
    return longest == nullptr ? 0 : longest->thread_id;
  }
  const Process* rank = nullptr;
  const Process* root = nullptr;
  for (const Process& process : timeline.processes) {
    if (process.main == 0) continue;
    const bool leads = process.role.starts_with("rank");
    if (leads && (rank == nullptr || leads_before(process, *rank))) rank = &process;
    if (process.parent == 0 && (root == nullptr || process.first_ns < root->first_ns)) root = &process;
  }
  if (rank != nullptr) return rank->main;
  return root == nullptr ? 0 : root->main;
}

int32_t find_heir(const Timeline& timeline, int32_t thread_id, const Wait& wait) {
  const bool may_join = wait.kind == WaitKind::kLock || wait.kind == WaitKind::kChild;
  if (wait.dur_ns() < kShortNs || (!may_join && wait.kind != WaitKind::kPoll)) return 0;
  const Thread& thread = timeline.thread(thread_id);
  int32_t heir = 0;
  Ns longest_ns = 0;
  // Threads or processes that lived about equally long are ranks: the first one is taken.
  const auto take = [&](int32_t who, Ns first_ns, Ns last_ns) {
    constexpr double kLonger = 1.2;
    const Ns life_ns = life_in(first_ns, last_ns, wait);
    if (static_cast<double>(life_ns) <= kLonger * static_cast<double>(longest_ns)) return;
    heir = who;
    longest_ns = life_ns;
  };
  const Process& own = timeline.process(thread.proc_id);
  if (may_join) {
    for (const int32_t other : own.threads) {
      const Thread& one = timeline.thread(other);
      const bool later = one.first_ns > own.first_ns + 1'000'000;
      if (other != thread_id && later && lived_in(one.first_ns, one.last_ns, wait, kThreadEndNs))
        take(other, one.first_ns, one.last_ns);
    }
  }
  if (heir != 0 || wait.kind == WaitKind::kLock) return heir;
  for (const Process& child : timeline.processes) {
    if (child.main == 0 || child.parent != thread.proc_id || child.first_ns <= own.first_ns || child.is_helper())
      continue;
    if (lived_in(child.first_ns, child.last_ns, wait, kProcessEndNs) && !sends_to(timeline, child.proc_id, thread_id)) {
      take(child.main, child.first_ns, child.last_ns);
    }
  }
  return heir;
}

bool is_of_other_rank(const Timeline& timeline, int32_t driver, int32_t thread_id) {
  const Process& mine = timeline.process_of(driver);
  const Process& other = timeline.process_of(thread_id);
  if (thread_id == 0 || mine.proc_id == other.proc_id) return false;
  if (mine.rank >= 0 && other.rank >= 0) return mine.rank != other.rank;
  return mine.parent != 0 && mine.parent == other.parent && is_same_command(mine.command, other.command);
}

bool is_for_ranks_elsewhere(const Timeline& timeline, int32_t driver, const Piece& piece) {
  return timeline.has_ranks_elsewhere && piece.away_file_id != 0 &&
         timeline.thread(piece.thread_id).proc_id == timeline.thread(driver).proc_id;
}

}  // namespace mlrun::blame
