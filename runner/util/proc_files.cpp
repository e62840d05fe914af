// SPDX-License-Identifier: Apache-2.0
#include "runner/util/proc_files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::util {

namespace {

// Calls `visit` with each numeric entry of a directory until it returns true; returns that entry, or 0.
uint32_t find_entry(const std::string& directory, const std::function<bool(uint32_t)>& visit,
                    int* open_error = nullptr) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (!entries && open_error != nullptr) *open_error = errno;
  if (!entries) return 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const auto value = leading_number<uint32_t>(entry->d_name);
    if (value != 0 && visit(value)) return value;
  }
  return 0;
}

// The last number of a line of /proc/PID/status; 0: none.
uint64_t last_number(const std::string& status, std::string_view name) {
  const auto words = status_words(status, name);
  return words.empty() ? 0 : leading_number<uint64_t>(words.back());
}

// I/O submitted through these mappings makes no calls that mlrun could record, so the trace at least records the mapping.
constexpr std::array<std::string_view, 2> kRings = {"anon_inode:[io_uring]", "/[aio] (deleted)"};

// Does a process have an environment? kComing: not yet, it is in the middle of an exec. kNone: kernel threads, ended processes.
enum class Environment { kNone, kComing, kThere };

Environment environment_of(uint32_t pid) {
  constexpr size_t kState = 0, kFlags = 6, kEnvironmentEnd = 48;
  constexpr uint64_t kExiting = 0x4, kKernelThread = 0x200000;  // PF_EXITING, PF_KTHREAD
  const std::string text = read_text(fmt::format("/proc/{}/stat", pid), 4096);
  const auto words = stat_words(text);
  if (words.size() <= kEnvironmentEnd || words[kState] == "Z" || words[kState] == "X") return Environment::kNone;
  if ((leading_number<uint64_t>(words[kFlags]) & (kExiting | kKernelThread)) != 0) return Environment::kNone;
  if (leading_number<uint64_t>(words[kEnvironmentEnd]) != 0) return Environment::kThere;
  const bool is_ours_to_see = ::access(fmt::format("/proc/{}/exe", pid).c_str(), F_OK) == 0;
  return is_ours_to_see ? Environment::kComing : Environment::kNone;
}

bool may_have(uint32_t pid, const std::string& wanted) {
  constexpr int kTries = 3;  // an exec may end between reading the environment and its address
  for (int tries = 0; tries < kTries; ++tries) {
    const std::string environment = read_text(fmt::format("/proc/{}/environ", pid));
    if (!environment.empty()) return ('\0' + environment).find(wanted) != std::string::npos;
    const Environment place = environment_of(pid);
    if (place != Environment::kThere) return place == Environment::kComing;
  }
  return true;  // it calls exec again and again
}

}  // namespace

std::optional<ProcStat> read_proc_stat(uint32_t pid) { return read_proc_stat_in(fmt::format("/proc/{}", pid)); }

std::optional<ProcStat> read_proc_stat_in(const std::string& folder) {
  const std::string text = read_text(folder + "/stat", 4096);
  const auto words = stat_words(text);
  if (words.size() < 20) return {};
  const bool ended = words[0] == "Z" || words[0] == "X";
  return ProcStat{leading_number<uint32_t>(words[1]), leading_number<uint32_t>(words[3]),
                  leading_number<uint64_t>(words[19]), ended};
}

std::string read_comm(uint32_t pid, uint32_t tid) {
  std::string name = read_text(fmt::format("/proc/{}/task/{}/comm", pid, tid), 64);
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::vector<Module> parse_modules(const std::string& maps) {
  std::vector<Module> modules;
  for (const std::string_view line : split(maps, "\n")) {
    const auto map = maps_line(line);
    if (!map) continue;
    const bool is_ring = std::find(kRings.begin(), kRings.end(), map->path) != kRings.end();
    if (!is_ring && !(map->is_code && map->has_file())) continue;
    modules.push_back({map->start, map->end, map->file_offset, std::string(map->path)});
  }
  return modules;
}

std::vector<Module> read_modules(uint32_t pid) { return parse_modules(read_text(fmt::format("/proc/{}/maps", pid))); }

std::vector<std::pair<std::string, uint64_t>> read_io(uint32_t pid) {
  std::vector<std::pair<std::string, uint64_t>> values;
  const std::string text = read_text(fmt::format("/proc/{}/io", pid), 4096);
  for (const std::string_view line : split(text, "\n")) {
    const size_t colon = line.find(": ");
    if (colon != std::string_view::npos)
      values.emplace_back(line.substr(0, colon), leading_number<uint64_t>(line.substr(colon + 2)));
  }
  return values;
}

std::optional<IoCounts> read_io_counts(uint32_t pid) {
  const auto values = read_io(pid);
  if (values.empty()) return {};
  IoCounts counts;
  for (const auto& [name, value] : values) {
    if (name == "rchar") counts.rchar = value;
    if (name == "wchar") counts.wchar = value;
    if (name == "syscr") counts.syscr = value;
    if (name == "syscw") counts.syscw = value;
    if (name == "read_bytes") counts.read_bytes = value;
    if (name == "write_bytes") counts.write_bytes = value;
  }
  return counts;
}

std::string read_exe(uint32_t pid) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : std::string();
}

std::vector<uint32_t> children_of(uint32_t pid) {
  std::vector<uint32_t> children;
  find_entry(fmt::format("/proc/{}/task", pid), [&](uint32_t tid) {
    const std::string text = read_text(fmt::format("/proc/{}/task/{}/children", pid, tid));
    for (const std::string_view word : split(text, " ")) {
      if (const auto child = leading_number<uint32_t>(word); child != 0) children.push_back(child);
    }
    return false;
  });
  return children;
}

uint32_t innermost_pid_of(uint32_t pid) { return innermost_pid_in(fmt::format("/proc/{}", pid)); }

uint32_t innermost_pid_in(const std::string& folder) {
  return static_cast<uint32_t>(last_number(read_text(folder + "/status"), "NSpid:"));
}

std::vector<uint32_t> numbers_in(const std::string& folder, int* open_error) {
  std::vector<uint32_t> numbers;
  const auto add = [&](uint32_t number) {
    numbers.push_back(number);
    return false;
  };
  find_entry(folder, add, open_error);
  return numbers;
}

uint64_t own_seccomp_filters() { return last_number(read_text("/proc/self/status"), "Seccomp_filters:"); }

uint64_t pid_namespace_of(uint32_t pid) {
  return pid_namespace_in(pid == 0 ? "/proc/self" : fmt::format("/proc/{}", pid));
}

uint64_t pid_namespace_in(const std::string& folder) {
  struct stat status {};
  return ::stat((folder + "/ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

uint32_t find_host_pid(uint64_t pid_namespace, uint32_t pid_inside) {
  return find_entry("/proc", [&](uint32_t pid) {
    return innermost_pid_of(pid) == pid_inside && pid_namespace_of(pid) == pid_namespace;
  });
}

uint32_t find_host_tid(uint32_t host_pid, uint32_t tid_inside) {
  return find_entry(fmt::format("/proc/{}/task", host_pid), [&](uint32_t tid) {
    return innermost_pid_in(fmt::format("/proc/{}/task/{}", host_pid, tid)) == tid_inside;
  });
}

bool environment_in_use(const std::string& variable) {
  const auto self = static_cast<uint32_t>(::getpid());
  const std::string wanted = '\0' + variable + '\0';
  return find_entry("/proc", [&](uint32_t pid) { return pid != self && may_have(pid, wanted); }) != 0;
}

bool thread_exists(uint32_t host_pid, uint32_t host_tid) {
  return ::access(fmt::format("/proc/{}/task/{}", host_pid, host_tid).c_str(), F_OK) == 0;
}

std::string boot_id() { return read_line("/proc/sys/kernel/random/boot_id"); }

}  // namespace mlrun::util
