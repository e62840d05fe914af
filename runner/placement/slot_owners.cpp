// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/slot_owners.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/proc_files.h"

namespace mlrun::placement {

namespace {

constexpr uint32_t kSearchesMax = 3;
constexpr size_t kProcessesByClock = 32;  // are compared between two looks at the clock

bool is_known(const CountedProcess& process) {
  return process.number != 0 && process.pid != 0 && process.pid_namespace != 0;
}

}  // namespace

SlotOwners::SlotOwners(std::string proc)
    : proc_(std::move(proc)), own_namespace_(util::pid_namespace_in(proc_ + "/self")) {}

std::string SlotOwners::folder_of(uint32_t host_pid) const { return fmt::format("{}/{}", proc_, host_pid); }

// If several processes have one pid, the newest has it. The others are gone, and surely ended if their heaps were elsewhere: a child of a bare
// clone, which has its parent's pid here, also has its addresses.
void SlotOwners::look(const std::vector<CountedProcess>& processes, uint64_t most_ns) {
  std::set<uint32_t> numbers;
  for (const CountedProcess& process : processes) {
    if (!is_known(process)) continue;
    numbers.insert(process.number);
    const auto [owner, is_new] = owners_.try_emplace(process.number);
    if (is_new && process.pid_namespace == own_namespace_) owner->second.host_pid = process.pid;
  }
  std::erase_if(owners_, [&](const auto& one) { return !numbers.contains(one.first); });
  if (sought_.empty()) begin_search(processes);
  if (!sought_.empty()) search(most_ns);
  std::map<uint32_t, uint64_t> windows;  // by pid
  for (auto process = processes.rbegin(); process != processes.rend(); ++process) {
    const auto found = owners_.find(process->number);
    if (found == owners_.end() || found->second.host_pid == 0) continue;
    Owner& owner = found->second;
    check(owner);
    const auto [newest, is_newest] = windows.try_emplace(owner.host_pid, process->window);
    if (is_newest) continue;
    owner.ended = owner.ended || newest->second != process->window;
    owner.is_sampled = false;
  }
}

const Owner* SlotOwners::of(const CountedProcess& process) const {
  const auto found = owners_.find(process.number);
  return found == owners_.end() ? nullptr : &found->second;
}

void SlotOwners::begin_search(const std::vector<CountedProcess>& processes) {
  for (const CountedProcess& process : processes) {
    const auto found = owners_.find(process.number);
    if (found == owners_.end()) continue;
    const Owner& owner = found->second;
    if (owner.host_pid == 0 && !owner.ended && owner.searches < kSearchesMax)
      sought_[{process.pid, process.pid_namespace}].push_back(process.number);
  }
  if (sought_.empty()) return;
  host_pids_ = util::numbers_in(proc_);
  next_ = 0;
  // mlrun may see only the processes of its own user (hidepid). Process 1 is another user's then.
  is_whole_ = std::find(host_pids_.begin(), host_pids_.end(), 1u) != host_pids_.end();
  unsure_.clear();
}

void SlotOwners::search(uint64_t most_ns) {
  const uint64_t before_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (size_t compared = 1; !sought_.empty() && next_ < host_pids_.size(); compared++) {
    compare(host_pids_[next_++]);
    if (compared % kProcessesByClock == 0 && util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns >= most_ns) return;
  }
  end_search();
}

void SlotOwners::compare(uint32_t host_pid) {
  const std::string folder = folder_of(host_pid);
  const uint32_t inside = util::innermost_pid_in(folder);
  if (inside == 0 && ::access(folder.c_str(), F_OK) == 0) is_whole_ = false;  // not readable
  const auto alike = sought_.lower_bound({inside, 0});
  if (alike == sought_.end() || alike->first.first != inside) return;
  const uint64_t pid_namespace = util::pid_namespace_in(folder);
  if (pid_namespace == 0) unsure_.insert(inside);
  const auto found = sought_.find({inside, pid_namespace});
  if (found == sought_.end()) return;
  for (const uint32_t number : found->second) {
    const auto owner = owners_.find(number);
    if (owner != owners_.end()) owner->second.host_pid = host_pid;
  }
  sought_.erase(found);
}

// A process that had a slot when the search began and is not found has ended.
void SlotOwners::end_search() {
  for (const auto& [where, numbers] : sought_) {
    for (const uint32_t number : numbers) {
      const auto owner = owners_.find(number);
      if (owner == owners_.end()) continue;
      owner->second.searches++;
      owner->second.ended = is_whole_ && !unsure_.contains(where.first);
    }
  }
  sought_.clear();
}

void SlotOwners::check(Owner& owner) const {
  owner.is_sampled = false;
  if (owner.ended) return;
  const auto stat = util::read_proc_stat_in(folder_of(owner.host_pid));
  if (stat && owner.start_ticks == 0) owner.start_ticks = stat->start_ticks;
  // Without its folder it may be hidden.
  const bool has_pid = stat ? stat->start_ticks == owner.start_ticks
                            : ::kill(static_cast<pid_t>(owner.host_pid), 0) == 0 || errno != ESRCH;
  owner.ended = !has_pid;
  owner.is_sampled = has_pid && stat && !stat->ended;
}

}  // namespace mlrun::placement
