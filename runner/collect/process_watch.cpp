// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/process_watch.h"

#include <algorithm>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/util/clock.h"
#include "runner/util/json_at.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kShortestModulesPauseNs = 1'000'000'000;
constexpr uint64_t kLongestModulesPauseNs = 4'000'000'000;
constexpr uint64_t kIoPauseNs = 2'000'000'000;
constexpr uint64_t kFirstQuietPauseNs = 200'000'000;  // after a process was first seen
constexpr uint64_t kQuietPauseNs = 100'000'000;       // if no idle process is due for a check
constexpr uint64_t kPauseOfQuietCheck = 500;          // pauses are this many times longer than checks
constexpr uint32_t kSearchesMax = 8;                  // per process: mlrun may not see its pid namespace at all
constexpr size_t kModulesTextMax = 400 << 10;         // a frame holds 512 KiB

size_t hash_of(const std::vector<util::Module>& modules) {
  size_t hash = modules.size();
  const auto mix = [&](size_t value) { hash = (hash ^ value) * 0x9fb21c651e98df25u + (hash >> 29); };
  for (const util::Module& module : modules) {
    mix(module.start);
    mix(module.end);
    mix(module.file_offset);
    mix(std::hash<std::string>()(module.path));
  }
  return hash;
}

}  // namespace

ProcessWatch::ProcessWatch(Spool& spool, ChannelClock clock)
    : spool_(spool), clock_(clock), own_namespace_(util::pid_namespace_of(0)) {}

ProcessWatch::Process& ProcessWatch::process_of(const Channel& channel) {
  Process& process = processes_[channel.process];
  if (process.channels == 0 || process.pid != channel.pid || process.pid_namespace != channel.pid_namespace) {
    const bool queued = process.queued;
    process = Process{};
    process.queued = queued;
    process.number = channel.process;
    process.pid = channel.pid;
    process.pid_namespace = channel.pid_namespace;
  }
  process.channels++;
  process.image = std::max(process.image, channel.image);
  return process;
}

// The pid in mlrun's namespace of a process of another pid namespace. 0: not found, or the search is over or not due.
uint32_t ProcessWatch::search(Process& process, const Channel& channel) {
  const uint64_t begin_ns = util::monotonic_ns();
  if (begin_ns < next_search_ns_ || process.searches >= kSearchesMax || channel.marked_dead()) return 0;
  process.searches++;
  const uint32_t host_pid = util::find_host_pid(process.pid_namespace, process.pid);
  const uint64_t end_ns = util::monotonic_ns();
  next_search_ns_ = end_ns + 9 * (end_ns - begin_ns);
  return host_pid;
}

// If the thread is still alive after /proc was read, its pid was not reused and the data is that of its process.
void ProcessWatch::identify(Process& process, const Channel& channel) {
  const bool ours = process.pid_namespace == own_namespace_;
  const uint32_t host_pid = ours ? process.pid : search(process, channel);
  const auto stat = host_pid == 0 ? std::nullopt : util::read_proc_stat(host_pid);
  if (!stat || channel.marked_dead()) return;
  process.host_pid = host_pid;
  process.ppid = stat->ppid;
  process.start_ticks = stat->start_ticks;
}

void ProcessWatch::describe_thread(Process& process, const Channel& channel) {
  const std::string comm = util::read_comm(process.host_pid, channel.host_tid);
  if (comm.empty() || channel.marked_dead()) return;
  nlohmann::json text = {{"process", process.number},    {"pid", process.pid},
                         {"host_pid", process.host_pid}, {"tid", channel.tid},
                         {"host_tid", channel.host_tid}, {"comm", util::escaped_utf8(comm)}};
  if (!process.described) {
    text["ppid"] = process.ppid;
    text["start_ticks"] = process.start_ticks;
    process.described = true;
  }
  write(text);
}

uint64_t ProcessWatch::meet(Channel& channel, uint64_t now_ns) {
  Process& process = process_of(channel);
  // The recorded pids are valid in our namespace even if the process has ended.
  if (channel.pid_namespace == own_namespace_ && !clock_.stopped()) {
    channel.host_pid = channel.pid;
    channel.host_tid = channel.tid;
  }
  return find(process, channel, now_ns);
}

uint64_t ProcessWatch::find(Process& process, Channel& channel, uint64_t now_ns) {
  const bool was_found = process.host_pid != 0;
  if (!was_found && !clock_.stopped()) identify(process, channel);
  if (process.host_pid == 0) return 0;
  channel.host_pid = process.host_pid;
  if (channel.host_tid == 0) channel.host_tid = util::find_host_tid(process.host_pid, channel.tid);
  if (!was_found) {
    process.next_modules_ns = process.next_io_ns = now_ns;
    note_data(process.number);
  }
  describe_thread(process, channel);
  return process.start_ticks;
}

uint64_t ProcessWatch::check_again(Channel& channel, uint64_t now_ns) {
  const auto found = processes_.find(channel.process);
  return found != processes_.end() ? find(found->second, channel, now_ns) : 0;
}

void ProcessWatch::note_data(uint32_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end() || found->second.queued) return;
  found->second.queued = true;
  queue_.push_back(process);
}

void ProcessWatch::leave(const Channel& channel) {
  const auto found = processes_.find(channel.process);
  if (found == processes_.end() || found->second.channels == 0) return;
  if (--found->second.channels == 0) {
    std::erase(queue_, channel.process);
    processes_.erase(found);
  }
}

void ProcessWatch::work(uint64_t now_ns, uint64_t budget_ns) {
  std::vector<uint32_t> later;
  const uint64_t deadline_ns = now_ns + budget_ns;
  for (const uint32_t number : queue_) {
    Process& process = processes_[number];
    const uint64_t time_ns = util::monotonic_ns();
    const bool due = now_ns >= process.next_modules_ns || now_ns >= process.next_io_ns;
    if (due && time_ns < deadline_ns) check(process, now_ns);
    if (due && time_ns >= deadline_ns) {
      later.push_back(number);
    } else {
      process.queued = false;
    }
  }
  const bool is_behind = !later.empty();
  queue_ = std::move(later);
  if (!is_behind && now_ns >= next_quiet_ns_) check_quiet(now_ns);
}

// Checks the idle process whose check is overdue for longest.
void ProcessWatch::check_quiet(uint64_t now_ns) {
  Process* longest = nullptr;
  for (auto& [number, process] : processes_) {
    if (process.host_pid == 0 || process.queued || now_ns < process.next_modules_ns) continue;
    if (longest == nullptr || process.next_modules_ns < longest->next_modules_ns) longest = &process;
  }
  const uint64_t begin_ns = util::monotonic_ns();
  if (longest != nullptr) check(*longest, now_ns);
  const uint64_t took_ns = longest != nullptr ? util::monotonic_ns() - begin_ns : 0;
  next_quiet_ns_ = now_ns + (longest != nullptr ? kPauseOfQuietCheck * took_ns : kQuietPauseNs);
}

std::vector<WatchedProcess> ProcessWatch::processes() const {
  std::vector<WatchedProcess> found;
  for (const auto& [number, process] : processes_) {
    if (process.host_pid != 0) found.push_back({number, process.image, process.pid, process.host_pid});
  }
  return found;
}

bool ProcessWatch::add_modules(Process& process, uint64_t now_ns, nlohmann::json& text) {
  const std::vector<util::Module> modules = util::read_modules(process.host_pid);
  const size_t hash = hash_of(modules);
  const bool changed = !modules.empty() && hash != process.modules_hash;
  const bool is_first = process.modules_hash == 0;
  process.modules_pause_ns =
      is_first  ? kFirstQuietPauseNs
      : changed ? kShortestModulesPauseNs
                : std::clamp(process.modules_pause_ns * 2, kShortestModulesPauseNs, kLongestModulesPauseNs);
  process.next_modules_ns = now_ns + process.modules_pause_ns;
  if (!changed) return false;
  process.modules_hash = hash;
  nlohmann::json rows = nlohmann::json::array();
  size_t bytes = 0;
  for (const util::Module& module : modules) {
    std::string path = util::escaped_utf8(module.path);
    bytes += path.size() + 64;
    if (bytes > kModulesTextMax) break;
    rows.push_back({module.start, module.end, module.file_offset, std::move(path)});
  }
  text["modules"] = std::move(rows);
  return true;
}

void ProcessWatch::check(Process& process, uint64_t now_ns) {
  nlohmann::json text = {{"process", process.number}, {"pid", process.pid}, {"host_pid", process.host_pid}};
  bool any = false;
  if (process.host_pid == 0) return;
  if (now_ns >= process.next_modules_ns) any = add_modules(process, now_ns, text);
  if (now_ns >= process.next_io_ns) {
    process.next_io_ns = now_ns + kIoPauseNs;
    nlohmann::json io = nlohmann::json::object();
    for (const auto& [key, value] : util::read_io(process.host_pid)) io[key] = value;
    any = any || !io.empty();
    if (!io.empty()) text["io"] = std::move(io);
  }
  // If the process ended meanwhile and its pid was reused, the data is that of another process.
  const auto stat = any ? util::read_proc_stat(process.host_pid) : std::nullopt;
  if (stat && stat->start_ticks == process.start_ticks) write(text);
}

void ProcessWatch::write(const nlohmann::json& text) {
  const std::string bytes = util::json_text(text);
  if (bytes.size() > Spool::kPayloadMax) return;
  mlrun_frame frame{};
  frame.type = MLRUN_FRAME_PROCESS;
  frame.first = frame.last = clock_.now();
  spool_.put_report(frame, bytes.data(), static_cast<uint32_t>(bytes.size()));
}

}  // namespace mlrun::collect
