// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/observed.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_files.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCgroups = "/sys/fs/cgroup";

// The first number on the line of /proc/PID/status that starts with `name`, such as "Uid:"; -1: missing.
int status_number(int pid, std::string_view name) {
  const std::string status = util::read_text(fmt::format("/proc/{}/status", pid));
  const auto words = util::status_words(status, name);
  return words.empty() ? -1 : util::leading_number<int>(words.front());
}

int64_t threads_of(int pid) {
  std::error_code error;
  const fs::directory_iterator threads(fmt::format("/proc/{}/task", pid), error);
  return error ? 0 : std::distance(fs::begin(threads), fs::end(threads));
}

Status check_process(int pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return fail(fmt::format("--pid {}: there is no such process", pid));
  const uid_t own = ::geteuid();
  const int uid = status_number(pid, "Uid:");
  if (own != 0 && uid != static_cast<int>(own)) {
    return fail(fmt::format("--pid {}: it is another user's process, which only root may observe", pid));
  }
  if (const int leader = status_number(pid, "Tgid:"); leader > 0 && leader != pid) {
    return fail(fmt::format("--pid {}: it is a thread of process {}; give the number of the process", pid, leader));
  }
  // A process whose main thread has ended still runs if it has other threads.
  const auto stat = util::read_proc_stat(static_cast<uint32_t>(pid));
  if (!stat || (stat->ended && threads_of(pid) <= 1)) return fail(fmt::format("--pid {}: it has ended", pid));
  return {};
}

// The process's current descendants; empty if the kernel does not list children.
void add_children(int pid, std::vector<int>& children) {
  for (const uint32_t child : util::children_of(static_cast<uint32_t>(pid))) {
    children.push_back(static_cast<int>(child));
    add_children(children.back(), children);
  }
}

std::string process_name(int pid) {
  const auto number = static_cast<uint32_t>(pid);
  return fmt::format("{} ({})", pid, util::printable(util::escaped_utf8(util::read_comm(number, number))));
}

// The path itself, else below /sys/fs/cgroup; empty: no such folder.
std::string cgroup_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> places = {std::string(kCgroups) + "/" + path};
  if (path.starts_with('/')) places.insert(places.begin(), path);
  for (const std::string& place : places) {
    const fs::path folder = fs::canonical(place, error);
    if (!error && fs::is_directory(folder, error)) return folder.string();
  }
  return {};
}

}  // namespace

Result<Observed> find_processes(const std::vector<int>& pids) {
  Observed observed;
  for (const int pid : pids) {
    util::UniqueFd held(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const int error = errno;
    if (Status good = check_process(pid); !good) return tl::make_unexpected(good.error());
    if (!held.valid()) return fail_errno(fmt::format("attach to process {}", pid), error);
    observed.text += (observed.text.empty() ? "" : ", ") + process_name(pid);
    observed.processes.push_back({pid, std::move(held)});
  }
  observed.text = (pids.size() == 1 ? "process " : "processes ") + observed.text;
  observed.name = fmt::format("pid-{}", pids.front());
  observed.facts = {{"scope", "processes"}, {"pids", pids}, {"children_before", json::array()}};
  return observed;
}

void note_children(Observed& observed, int pid) {
  std::vector<int> found;
  add_children(pid, found);
  std::set<int> children = observed.facts["children_before"];
  children.insert(found.begin(), found.end());
  for (const ObservedProcess& process : observed.processes) children.erase(process.pid);
  observed.facts["children_before"] = children;
}

bool has_ended(const ObservedProcess& process) {
  pollfd end{process.pidfd.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

Result<Observed> find_cgroup(const std::string& path) {
  constexpr decltype(statfs::f_type) kCgroup1 = 0x27e0eb, kCgroup2 = 0x63677270;  // linux/magic.h
  Observed observed;
  const std::string folder = cgroup_folder(path);
  if (folder.empty()) return fail(fmt::format("--cgroup {}: there is no such cgroup", path));
  observed.cgroup.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statfs place {};
  if (!observed.cgroup.valid() || ::fstatfs(observed.cgroup.get(), &place) != 0) {
    return fail_errno("open the cgroup " + folder, errno);
  }
  if (place.f_type == kCgroup1) {
    return fail(fmt::format("--cgroup {}: it is of cgroup v1, and --cgroup needs v2; use --pid instead", path));
  }
  if (place.f_type != kCgroup2) return fail(fmt::format("--cgroup {}: {} is no cgroup", path, folder));
  observed.text = "cgroup " + util::printable(util::escaped_utf8(folder));
  observed.name = "cgroup-" + fs::path(folder).filename().string();
  observed.facts = {{"scope", "cgroup"}, {"path", util::escaped_utf8(folder)}};
  return observed;
}

Observed whole_system() {
  Observed observed;
  observed.text = "everything on this machine";
  observed.name = "system";
  observed.facts = {{"scope", "system"}};
  return observed;
}

}  // namespace mlrun::launch
