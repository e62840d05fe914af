// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/cgroup.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "runner/util/file_io.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::proc {

namespace {

constexpr size_t kTextMax = 4096;

bool has_word(std::string_view list, std::string_view word) {
  const auto words = util::split(list, ",");
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The mount of a cgroup file system. Its texts are empty if there is none.
util::MountLine find_mount(const std::string& mountinfo, std::string_view type, std::string_view controller) {
  for (const std::string_view line : util::split(mountinfo, "\n")) {
    const auto mount = util::mount_line(line);
    const bool is_it = mount && mount->file_system == type;
    if (is_it && (controller.empty() || has_word(mount->options, controller))) return *mount;
  }
  return {};
}

// The path in a line of /proc/self/cgroup: "4:cpu,cpuacct:/path", "0::/path".
std::string_view path_in(const std::string& cgroup, std::string_view controller) {
  for (const std::string_view line : util::split(cgroup, "\n")) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_word(names, controller)) return line.substr(second + 1);
  }
  return {};
}

std::vector<std::string> folders(const util::MountLine& mount, std::string_view path) {
  std::vector<std::string> found;
  if (mount.point.empty() || path.empty()) return found;
  if (mount.root != "/" && path.starts_with(mount.root)) path.remove_prefix(mount.root.size());
  for (std::string below(path == "/" ? "" : path);; below.resize(below.rfind('/'))) {
    found.push_back(std::string(mount.point) + below);
    if (below.rfind('/') == std::string::npos) return found;
  }
}

int64_t number_in(std::string_view text, int64_t otherwise) {
  int64_t value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? value : otherwise;
}

// The cgroup's limit in thousandths of a processor; -1: no limit.
int64_t limit_of(const std::string& folder, bool is_version_1) {
  int64_t quota = -1, period = 0;
  if (is_version_1) {
    quota = number_in(util::read_text(folder + "/cpu.cfs_quota_us", kTextMax), -1);
    period = number_in(util::read_text(folder + "/cpu.cfs_period_us", kTextMax), 0);
  } else {
    const std::string text = util::read_text(folder + "/cpu.max", kTextMax);  // "max 100000" or "50000 100000"
    const auto words = util::split(text, " \n");
    if (words.size() < 2) return -1;
    quota = number_in(words[0], -1);
    period = number_in(words[1], 0);
  }
  constexpr int64_t kMost = int64_t{1} << 40;
  return quota <= 0 || quota > kMost || period <= 0 ? -1 : quota * 1000 / period;
}

}  // namespace

Cgroup find_cgroup(const std::string& cgroup, const std::string& mountinfo) {
  Cgroup found;
  found.unified = folders(find_mount(mountinfo, "cgroup2", ""), path_in(cgroup, ""));
  found.cpu = folders(find_mount(mountinfo, "cgroup", "cpu"), path_in(cgroup, "cpu"));
  found.is_version_1 = !found.cpu.empty();
  if (!found.is_version_1) found.cpu = found.unified;
  return found;
}

CpuLimit find_cpu_limit(const Cgroup& cgroup) {
  CpuLimit found;
  for (const std::string& folder : cgroup.cpu) {
    const int64_t limit = limit_of(folder, cgroup.is_version_1);
    if (limit < 0) continue;
    if (found.thousandths < 0) found.folder = folder;
    found.thousandths = found.thousandths < 0 ? limit : std::min(found.thousandths, limit);
  }
  if (found.folder.empty() && !cgroup.cpu.empty()) found.folder = cgroup.cpu.front();
  return found;
}

}  // namespace mlrun::proc
