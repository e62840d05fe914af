// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/events/session.h"
#include "runner/sweep/store/folder_lock.h"
#include "runner/sweep/supervise/process_tree.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/proc_files.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kEndNs = 10'000'000'000;  // a process in uninterruptible sleep may need longer

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

class Leftovers {
 public:
  explicit Leftovers(const LeftBehind& left) : processes_(left.processes) {
    for (const std::string& log : left.logs) {
      struct stat status {};
      if (::stat(log.c_str(), &status) == 0) logs_.push_back({status.st_dev, status.st_ino});
    }
    std::error_code error;
    const auto folder = std::filesystem::canonical(left.trace_folder, error);
    if (!error) variable_end_ = "," + folder.string();
  }

  [[nodiscard]] std::vector<Process> find() const {
    const auto all = all_processes();
    const bool has_leader = is_alive(processes_.process);
    return tree_of(all, [&](const Process& one) {
      if (one.stat.start_ticks < processes_.supervisor.start_ticks) return false;
      if (is(one, processes_.process) || is(one, processes_.supervisor)) return true;
      if (has_leader && one.stat.session == processes_.process.pid) return true;
      return writes_log(one.pid) || has_variable(one.pid);
    });
  }

 private:
  static bool is(const Process& one, const ProcessMark& mark) {
    return one.pid == mark.pid && one.stat.start_ticks == mark.start_ticks;
  }

  // Only standard output and error are checked, since a run's processes inherit these.
  [[nodiscard]] bool writes_log(uint32_t pid) const {
    for (const int fd : {1, 2}) {
      struct stat status {};
      if (::stat(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), &status) != 0) continue;
      const FileId file{status.st_dev, status.st_ino};
      if (std::find(logs_.begin(), logs_.end(), file) == logs_.end()) continue;
      const std::string info = util::read_text(fmt::format("/proc/{}/fdinfo/{}", pid, fd), 4096);
      const size_t flags = info.find("flags:");
      if (flags == std::string::npos) continue;
      if ((std::strtoul(info.c_str() + flags + 6, nullptr, 8) & O_ACCMODE) != O_RDONLY) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_variable(uint32_t pid) const {
    if (variable_end_.empty()) return false;
    std::istringstream environment(util::read_text(fmt::format("/proc/{}/environ", pid)));
    for (std::string variable; std::getline(environment, variable, '\0');) {
      if (variable.starts_with(MLRUN_SESSION_VARIABLE "=") && variable.ends_with(variable_end_)) return true;
    }
    return false;
  }

  const Processes& processes_;
  std::vector<FileId> logs_;
  std::string variable_end_;  // the end of MLRUN_SESSION, whose last field is the trace folder
};

}  // namespace

Status end_leftovers(const LeftBehind& left) {
  if (left.processes.process.boot_id != util::boot_id()) return {};
  const Leftovers leftovers(left);
  const uint64_t begin_ns = util::monotonic_ns();
  for (auto processes = leftovers.find(); !processes.empty(); processes = leftovers.find()) {
    for (const Process& process : processes) ::kill(static_cast<pid_t>(process.pid), SIGKILL);
    if (util::monotonic_ns() - begin_ns > kEndNs) {
      return fail(fmt::format("process {}, left running by a killed sweep, does not end; end it, then resume the sweep",
                              processes.front().pid));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

}  // namespace mlrun::sweep
