// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/descendant_watch.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/util/clock.h"
#include "runner/util/text.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kShortestWatchPauseNs = 50'000'000;
constexpr uint64_t kLongestWatchPauseNs = 2'000'000'000, kLongestAskedPauseNs = 200'000'000;
constexpr uint64_t kPauseOfScan = 500;  // pauses are this many times longer than scans
constexpr size_t kProcessesMax = 4096;

}  // namespace

DescendantWatch::DescendantWatch(pid_t command, bool is_asked)
    : command_(static_cast<uint32_t>(command)),
      longest_pause_ns_(is_asked ? kLongestAskedPauseNs : kLongestWatchPauseNs),
      pause_ns_(kShortestWatchPauseNs) {
  scan(util::monotonic_ns());
}

void DescendantWatch::work(uint64_t now_ns) {
  if (now_ns >= next_ns_) scan(now_ns);
}

bool DescendantWatch::is_gone(const Process& process) {
  const auto stat = util::read_proc_stat(process.pid);
  return !stat || stat->start_ticks != process.start_ticks;
}

// When the table is full, replaces a process that has ended; the counts of that process are lost. nullptr: no place, all are alive.
DescendantWatch::Process* DescendantWatch::add(uint32_t pid, uint64_t start_ticks) {
  if (processes_.size() < kProcessesMax) {
    ++added_;
    newest_[pid] = processes_.size();
    return &processes_.emplace_back();
  }
  while (next_place_ < processes_.size() && !is_gone(processes_[next_place_])) ++next_place_;
  const size_t place = next_place_;
  if (place >= processes_.size()) {
    if (std::exchange(refused_[pid], start_ticks) != start_ticks) ++left_out_;
    return nullptr;
  }
  ++next_place_;
  ++added_;
  const auto refused = refused_.find(pid);
  const bool is_counted = refused != refused_.end() && refused->second == start_ticks;
  if (!is_counted) ++left_out_;  // the replaced process
  const auto before = newest_.find(processes_[place].pid);
  if (before != newest_.end() && before->second == place) newest_.erase(before);
  newest_[pid] = place;
  processes_[place] = Process();
  return &processes_[place];
}

DescendantWatch::Process* DescendantWatch::find_or_add(uint32_t pid, const util::ProcStat& stat) {
  const auto known = newest_.find(pid);
  if (known != newest_.end() && processes_[known->second].start_ticks == stat.start_ticks) {
    return &processes_[known->second];
  }
  Process* added = add(pid, stat.start_ticks);
  if (added == nullptr) return nullptr;
  Process& process = *added;
  process.pid = pid;
  process.ppid = stat.ppid;  // of the first scan: it changes when the parent ends
  process.start_ticks = stat.start_ticks;
  process.pid_namespace = util::pid_namespace_of(pid);
  process.pid_inside = util::innermost_pid_of(pid);
  return &process;
}

// Reads the data of one process and adds its children to `open`. True: the process is new.
bool DescendantWatch::visit(uint32_t pid, uint64_t now_ns, std::vector<uint32_t>& open) {
  const auto stat = util::read_proc_stat(pid);
  if (!stat) return false;
  const uint64_t known = added_;
  Process* process = find_or_add(pid, *stat);
  if (process == nullptr) return false;
  process->alive = !stat->ended;
  process->seen_ns = now_ns;
  const std::optional<util::IoCounts> io = util::read_io_counts(pid);
  std::string exe = util::read_exe(pid), comm = util::read_comm(pid, pid);
  for (const uint32_t child : util::children_of(pid)) open.push_back(child);
  // If the process ended meanwhile and its pid was reused, exe, comm and io are those of another process.
  const auto again = util::read_proc_stat(pid);
  if (!again || again->start_ticks != stat->start_ticks) return added_ > known;
  if (!exe.empty()) process->exe = std::move(exe);
  if (!comm.empty()) process->comm = std::move(comm);
  if (io && !process->is_final) {
    process->io = io;
    process->io_ns = now_ns;
  }
  return added_ > known;
}

void DescendantWatch::scan(uint64_t now_ns) {
  const uint64_t begin_ns = util::monotonic_ns();
  std::vector<uint32_t> open = {command_};
  // A process once found is tracked even if its parent has ended.
  for (Process& process : processes_) {
    if (!std::exchange(process.alive, false) || process.pid == command_) continue;
    const auto stat = util::read_proc_stat(process.pid);
    if (stat && stat->start_ticks == process.start_ticks) open.push_back(process.pid);
  }
  std::sort(open.begin() + 1, open.end());
  std::vector<uint32_t> visited;
  bool any_new = false;
  next_place_ = 1;
  for (size_t i = 0; i < open.size() && visited.size() < 2 * kProcessesMax; ++i) {
    const uint32_t pid = open[i];
    const auto at = std::lower_bound(visited.begin(), visited.end(), pid);
    if (at != visited.end() && *at == pid) continue;
    visited.insert(at, pid);
    any_new |= visit(pid, now_ns, open);
  }
  const uint64_t took_ns = util::monotonic_ns() - begin_ns;
  pause_ns_ = any_new ? kShortestWatchPauseNs : std::min(pause_ns_ * 2, longest_pause_ns_);
  next_ns_ = begin_ns + std::max(pause_ns_, kPauseOfScan * took_ns);
  ++scans_;
  scan_ns_ += took_ns;
}

void DescendantWatch::note_command_end(const std::optional<util::IoCounts>& io) {
  command_ = 0;  // its pid may be reused from now on
  if (processes_.empty() || !io) return;
  processes_.front().io = io;
  processes_.front().io_ns = util::monotonic_ns();
  processes_.front().is_final = true;
}

nlohmann::json DescendantWatch::describe(const Process& process) {
  nlohmann::json text = {{"pid", process.pid},
                         {"ppid", process.ppid},
                         {"ns_pid", process.pid_inside},
                         {"pid_namespace", process.pid_namespace},
                         {"start_ticks", process.start_ticks},
                         {"exe", util::escaped_utf8(process.exe)},
                         {"comm", util::escaped_utf8(process.comm)},
                         {"alive", process.alive},
                         {"final", process.is_final}};
  if (process.io) {
    text["io_ns"] = process.io_ns;
    text["io"] = {{"rchar", process.io->rchar},           {"wchar", process.io->wchar},
                  {"syscr", process.io->syscr},           {"syscw", process.io->syscw},
                  {"read_bytes", process.io->read_bytes}, {"write_bytes", process.io->write_bytes}};
  }
  return text;
}

std::vector<uint32_t> DescendantWatch::alive() const {
  std::vector<uint32_t> pids;
  for (const Process& process : processes_) {
    if (process.alive) pids.push_back(process.pid);
  }
  return pids;
}

nlohmann::json DescendantWatch::finish() {
  scan(util::monotonic_ns());
  nlohmann::json list = nlohmann::json::array();
  for (const Process& process : processes_) list.push_back(describe(process));
  return {{"scans", scans_}, {"scan_ns", scan_ns_}, {"left_out", left_out_}, {"processes", std::move(list)}};
}

}  // namespace mlrun::collect
