// SPDX-License-Identifier: Apache-2.0
#include "kprobes/proc/seen_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <vector>

#include <fmt/format.h>

#include "kprobes/proc/names_in.h"
#include "kprobes/proc/proc_facts.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr size_t kRecordedMax = 1 << 18, kInfoMax = 4096;
constexpr uint32_t kMinorBits = 20;
constexpr int kOctal = 8, kDecimal = 10;

uint32_t device_of(const auto& line) { return line.major << kMinorBits | line.minor; }

// The device number of each mount, by mount id.
std::map<uint64_t, uint32_t> mounted_devices(const std::string& folder) {
  std::map<uint64_t, uint32_t> devices;
  const std::string text = util::read_text(folder + "/mountinfo");
  for (const std::string_view line : util::split(text, "\n")) {
    if (const auto mount = util::mount_line(line)) devices[mount->id] = device_of(*mount);
  }
  return devices;
}

// The number after `name` (with its colon) in a file of /proc/PID/fdinfo.
uint64_t field(std::string_view text, std::string_view name, int base) {
  const auto words = util::status_words(text, name);
  return words.empty() ? 0 : util::leading_number<uint64_t>(words.front(), base);
}

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> path{};
  const ssize_t bytes = ::readlink(link.c_str(), path.data(), path.size());
  return bytes <= 0 ? std::string() : std::string(path.data(), static_cast<size_t>(bytes));
}

}  // namespace

// Clears the table when it is full: a name that is then recorded twice does no harm.
void SeenFiles::note(uint32_t device, uint64_t inode, uint64_t time_ns) {
  if (recorded_.size() >= kRecordedMax) recorded_.clear();
  recorded_[{device, inode}] = time_ns;
}

void SeenFiles::forget(uint32_t device, uint64_t inode, uint64_t before_ns) {
  const auto known = recorded_.find({device, inode});
  if (known != recorded_.end() && known->second < before_ns) recorded_.erase(known);
}

void SeenFiles::record(uint32_t pid, const File& file, std::string_view path, uint64_t now_ns) {
  if (!path.starts_with('/')) return;  // pipes, sockets and the like have no path
  note(file.device, file.inode, now_ns);
  path = path.substr(0, PATH_MAX);
  mlrun_file_seen head{};
  head.head.kind = MLRUN_KERNEL_FILE_SEEN;
  head.head.time_ns = now_ns;
  head.head.pid = head.head.tid = pid;
  head.inode = file.inode;
  head.device = file.device;
  head.as = file.as;
  head.path_bytes = static_cast<uint32_t>(path.size());
  spool_.add_with_text(head, path);  // a path is never too long
}

// Reads the inode from fdinfo: stat() would query a server.
void SeenFiles::read_open(uint32_t pid) {
  const std::string folder = living_folder(pid);
  if (folder.empty()) return;
  const auto devices = mounted_devices(folder);
  for (const std::string& fd : names_in(folder + "/fd")) {
    between_();
    const uint64_t now_ns = util::monotonic_ns();
    const std::string info = util::read_text(fmt::format("{}/fdinfo/{}", folder, fd), kInfoMax);
    const auto device = devices.find(field(info, "mnt_id:", kDecimal));
    File file{0, field(info, "ino:", kDecimal)};
    if (file.inode == 0 || device == devices.end()) continue;
    file.device = device->second;
    if ((field(info, "flags:", kOctal) & O_DIRECTORY) != 0) file.as = MLRUN_SEEN_OPEN_FOLDER;
    if (!has(file.device, file.inode)) record(pid, file, target_of(fmt::format("{}/fd/{}", folder, fd)), now_ns);
  }
}

void SeenFiles::read_mapped(uint32_t pid) {
  const uint64_t now_ns = util::monotonic_ns();
  const std::string folder = living_folder(pid);
  if (folder.empty()) return;
  const std::string text = util::read_text(folder + "/maps");
  for (const std::string_view line : util::split(text, "\n")) {
    between_();
    const auto map = util::maps_line(line);
    if (!map || !map->has_file()) continue;
    const File file{device_of(*map), map->inode, MLRUN_SEEN_MAPPED};
    if (file.inode != 0 && !has(file.device, file.inode)) record(pid, file, map->path, now_ns);
  }
}

}  // namespace mlrun::probes
