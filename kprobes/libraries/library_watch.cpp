// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/library_watch.h"

#include <bpf/bpf.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kprobes/proc/proc_facts.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_files.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"

namespace mlrun::probes {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStepNs = 3'000'000, kPassNs = 50'000'000, kShare = 10;
constexpr uint64_t kCallsPerSecond = 1000;
constexpr size_t kFoundMax = 4096;
constexpr size_t kLeavingMax = 4096;  // while more probes wait for their release, processes get no new ones
constexpr std::string_view kShared = ".so", kDeleted = " (deleted)";

// Raises the limit of open files: each function of each library takes four descriptors.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

void add_processes(const fs::path& folder, std::vector<uint32_t>& pids) {
  const std::string text = util::read_text((folder / "cgroup.procs").string());  // the lines below point into it
  for (const std::string_view line : util::split(text, "\n")) {
    if (const auto pid = util::whole_number<uint32_t>(line).value_or(0); pid != 0) pids.push_back(pid);
  }
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && !entry->is_symlink(gone)) add_processes(entry->path(), pids);
  }
}

// True for /usr/lib/libcuda.so.580.65.06 as libcuda; false for libcudart.so and libcudadebugger.so.
bool is_library(std::string_view path, std::string_view name) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  const size_t folder = path.rfind('/');
  if (folder == std::string_view::npos) return false;
  std::string_view rest = path.substr(folder + 1);
  if (!rest.starts_with(name)) return false;
  rest.remove_prefix(name.size());
  if (!rest.starts_with(kShared)) return false;
  rest.remove_prefix(kShared.size());
  return rest.empty() || rest.front() == '.';
}

}  // namespace

LibraryWatch::LibraryWatch(std::vector<ObservedLibrary> libraries, Reach reach, std::function<void()> between)
    : reach_(reach), between_(std::move(between)) {
  for (ObservedLibrary& library : libraries) observed_.push_back({std::move(library)});
  allow_many_files();
}

const LibraryWatch::Observed* LibraryWatch::library_of(std::string_view path) const {
  const auto found = std::find_if(observed_.begin(), observed_.end(), [&](const Observed& candidate) {
    const auto& files = candidate.library.files;
    return std::any_of(files.begin(), files.end(), [&](std::string_view name) { return is_library(path, name); });
  });
  return found == observed_.end() ? nullptr : &*found;
}

void LibraryWatch::follow(uint32_t pid) {
  if (pid == 0) return;
  asked_for_.insert(pid);
  is_beginning_ = true;
  scan_process(pid);
  is_beginning_ = false;
}

void LibraryWatch::follow_cgroup(int folder) {
  cgroup_ = folder;
  find_all_now();
}

void LibraryWatch::follow_system() {
  follows_system_ = true;
  find_all_now();
}

void LibraryWatch::find_all_now() {
  is_beginning_ = true;
  begin_pass();
  for (const uint32_t pid : std::exchange(to_scan_, {})) {
    scan_process(pid);
    between_();
  }
  is_beginning_ = false;
}

void LibraryWatch::take(const mlrun_task& task) {
  if (is_scanning_) {
    taken_meanwhile_.push_back(task);
    return;
  }
  const uint32_t pid = task.head.pid;
  if (pid != task.head.tid && task.event != MLRUN_TASK_EXEC) return;
  const auto known = processes_.find(pid);
  const bool was_another = known != processes_.end() && known->second.since_ns < task.head.time_ns;
  if (task.event == MLRUN_TASK_FORK && was_another) forget(pid);
  if (task.event == MLRUN_TASK_FORK && !asked_for_.empty()) asked_for_.insert(pid);
  if (task.event == MLRUN_TASK_EXEC && known != processes_.end()) known->second.size.clear();
}

// Queues all processes in scope; forgets those that have ended, with their probes.
void LibraryWatch::begin_pass() {
  std::erase_if(asked_for_, [](uint32_t pid) { return !lives(pid); });
  to_scan_.assign(asked_for_.begin(), asked_for_.end());
  if (cgroup_ >= 0) add_processes(fmt::format("/proc/self/fd/{}", cgroup_), to_scan_);
  if (follows_system_) {
    const std::vector<uint32_t> all = util::numbers_in("/proc");
    to_scan_.insert(to_scan_.end(), all.begin(), all.end());
  }
  const std::set<uint32_t> now(to_scan_.begin(), to_scan_.end());
  for (auto process = processes_.begin(); process != processes_.end();) {
    const auto next = std::next(process);
    if (!now.contains(process->first)) forget(process->first);
    process = next;
  }
}

void LibraryWatch::forget(uint32_t pid) {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  for (auto& [file, probed] : process->second.libraries) probed.library.detach_all(leaving_);
  processes_.erase(process);
}

// Releases at most one probe a call: while the kernel releases a probe, this thread cannot drain the rings.
void LibraryWatch::scan(uint64_t now_ns) {
  if (!detached_.empty()) {
    const Observed* what = detached_.back().first;
    detached_.pop_back();
    ++*what->library.programs.epoch;
  } else if (!leaving_.empty()) {
    leaving_.pop_back();
  }
  read_rates(now_ns);
  if (to_scan_.empty()) {
    if (now_ns < pass_.next_ns) return;
    pass_.took_ns = 0;
    begin_pass();
  }
  uint64_t reached_ns = now_ns;
  while (!to_scan_.empty() && reached_ns - now_ns < kStepNs) {
    scan_process(to_scan_.back());
    to_scan_.pop_back();
    between_();
    reached_ns = util::monotonic_ns();
  }
  pass_.took_ns += reached_ns - now_ns;
  pass_.next_ns = reached_ns + std::max(kPassNs, pass_.took_ns * (kShare - 1));
}

// Reads the mappings only if the size of the mapped memory has changed, as it does when a library is loaded. Reading
// the size takes a hundredth of the time of reading the mappings.
void LibraryWatch::scan_process(uint32_t pid) {
  const std::string sizes = util::read_text(fmt::format("/proc/{}/statm", pid));
  const std::string size = sizes.substr(0, sizes.find(' '));
  if (size.empty() || size == "0") return;  // the first thread has ended; others may still use the libraries
  Process& process = processes_[pid];
  if (process.size == size) return;
  if (process.since_ns == 0) process.since_ns = util::monotonic_ns();
  process.size = size;
  is_scanning_ = true;
  scan_mappings(pid, process);
  is_scanning_ = false;
  for (const mlrun_task& task : std::exchange(taken_meanwhile_, {})) take(task);
}

void LibraryWatch::scan_mappings(uint32_t pid, Process& process) {
  const uint64_t read_ns = util::monotonic_ns();
  const std::string text = util::read_text(fmt::format("/proc/{}/maps", pid));
  std::set<File> mapped;
  for (const std::string_view line : util::split(text, "\n")) {
    const auto map = util::maps_line(line);
    const Observed* what = map && map->is_code && map->has_file() ? library_of(map->path) : nullptr;
    if (what == nullptr) continue;
    const File file{map->major, map->minor, map->inode};
    mapped.insert(file);
    if (!process.met.contains(file)) {
      attach(pid, process, {what, file, std::string(map->range), std::string(map->path)});
    }
  }
  if (on_mappings_ && !mapped.empty()) on_mappings_(pid, text, read_ns);
  std::erase_if(process.met, [&](const File& file) { return !mapped.contains(file); });
  for (auto library = process.libraries.begin(); library != process.libraries.end();) {
    const bool is_gone = !mapped.contains(library->first);
    if (is_gone) library->second.library.detach_all(leaving_);
    library = is_gone ? process.libraries.erase(library) : std::next(library);
  }
}

// Attaches probes to a mapped library. Opens it by /proc/PID/map_files, because its path may be relative to another
// root, or deleted.
void LibraryWatch::attach(uint32_t pid, Process& process, const Mapping& mapping) {
  if (leaving_.size() > kLeavingMax && !is_beginning_) {
    process.size.clear();  // so that the next pass reads the mappings again
    ++put_off_;
    return;
  }
  const bool is_everywhere = reach_ == Reach::kEverybody;
  auto& libraries = is_everywhere ? everywhere_ : process.libraries;
  const bool was_probed = is_everywhere && !is_beginning_ && libraries.contains(mapping.file);
  Found found{mapping.what, pid, mapping.path, {}, 0, is_beginning_, was_probed, 0};
  process.met.insert(mapping.file);
  if (!libraries.contains(mapping.file)) {
    const std::string path = fmt::format("/proc/{}/map_files/{}", pid, mapping.range);
    auto library =
        ProbedLibrary::attach(mapping.what->library, path, is_everywhere ? 0 : pid, mapping.what->without, between_);
    if (library)
      libraries.emplace(mapping.file, Probed{mapping.what, *std::move(library)});
    else
      found.reason = library.error().text;
  }
  if (const auto probed = libraries.find(mapping.file); probed != libraries.end()) {
    found.functions = probed->second.library.functions();
    found.reason = probed->second.library.missing();
  }
  found.at_ns = util::monotonic_ns();
  if (found_.all.size() < kFoundMax)
    found_.all.push_back(std::move(found));
  else
    ++found_.left_out;
}

void LibraryWatch::read_rates(uint64_t now_ns) {
  if (now_ns < rates_.next_ns) return;
  const double seconds = static_cast<double>(now_ns - rates_.last_ns) / static_cast<double>(util::kNsPerS);
  const bool is_first = rates_.last_ns == 0;
  rates_.last_ns = now_ns;
  rates_.next_ns = now_ns + util::kNsPerS;
  for (Observed& observed : observed_) {
    for (const LibraryCall& call : observed.library.calls) read_rate(observed, call, is_first ? 0 : seconds);
  }
}

// Drops a function that is called too often. `seconds`: since the previous reading; 0: this is the first.
void LibraryWatch::read_rate(Observed& observed, const LibraryCall& call, double seconds) {
  const MappedArray* hits = observed.library.programs.hits;
  if (!call.may_be_detached || observed.without.contains(call.number) || hits == nullptr) return;
  const uint64_t calls = hits->word(call.number);
  Rate& rate = observed.rates[call.number];
  const uint64_t since = calls - std::exchange(rate.calls, calls);
  if (seconds == 0) return;
  rate.per_second = static_cast<uint64_t>(static_cast<double>(since) / seconds);
  if (rate.per_second <= kCallsPerSecond) return;
  detach(observed, call.number);
  rate.detached_ns = util::monotonic_ns();
}

void LibraryWatch::detach(Observed& observed, uint16_t number) {
  observed.without.insert(number);
  std::vector<Link> links;
  const auto detach_in = [&](std::map<File, Probed>& libraries) {
    for (auto& [file, probed] : libraries) {
      if (probed.what == &observed) probed.library.detach(number, links);
    }
  };
  detach_in(everywhere_);
  for (auto& [pid, process] : processes_) detach_in(process.libraries);
  for (Link& link : links) detached_.emplace_back(&observed, std::move(link));
}

std::string LibraryWatch::missing(std::string_view name) const {
  std::string reason = "no recorded process had this library mapped";
  bool is_met = false;
  for (const Found& found : found_.all) {
    if (found.what->library.name != name) continue;
    if (found.functions > 0) return {};
    if (!std::exchange(is_met, true)) reason = found.reason;
  }
  return reason;
}

nlohmann::json LibraryWatch::describe(std::string_view name) const {
  nlohmann::json libraries = nlohmann::json::array(), gone = nlohmann::json::array();
  for (const Found& found : found_.all) {
    if (found.what->library.name != name) continue;
    libraries.push_back({{"pid", found.pid},
                         {"path", util::escaped_utf8(found.path)},
                         {"at_ns", found.at_ns},
                         {"was_there", found.was_there},
                         {"was_probed", found.was_probed},
                         {"functions", found.functions}});
    if (!found.reason.empty()) libraries.back()["missing"] = found.reason;
  }
  for (const Observed& observed : observed_) {
    if (observed.library.name != name) continue;
    for (const LibraryCall& call : observed.library.calls) {
      const auto rate = observed.rates.find(call.number);
      if (rate == observed.rates.end() || rate->second.detached_ns == 0) continue;
      gone.push_back({{"function", call.name},
                      {"calls_per_second", rate->second.per_second},
                      {"at_ns", rate->second.detached_ns}});
    }
  }
  return {{"libraries", std::move(libraries)},
          {"libraries_not_told", found_.left_out},
          {"put_off", put_off_},
          {"detached", std::move(gone)}};
}

}  // namespace mlrun::probes
