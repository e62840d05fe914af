// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/mounts.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

// mountinfo escapes space, tab, newline and backslash as three octal digits.
std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                        std::from_chars(&text[i + 1], &text[i + 1] + 3, code, 8).ptr == &text[i + 1] + 3;
    result += escape ? static_cast<char>(code) : text[i];
    if (escape) i += 3;
  }
  return result;
}

bool lies_in(std::string_view path, std::string_view point) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

Mounts::Mounts(std::string_view mountinfo) {
  for (const std::string_view line : util::split(mountinfo, "\n")) {
    const auto mount = util::mount_line(line);
    if (!mount) continue;
    mounts_.push_back({static_cast<uint32_t>(makedev(mount->major, mount->minor)), unescaped(mount->point),
                       unescaped(mount->file_system)});
  }
  std::reverse(mounts_.begin(), mounts_.end());
  std::stable_sort(mounts_.begin(), mounts_.end(),
                   [](const Mount& a, const Mount& b) { return a.point.size() > b.point.size(); });
}

const Mount* Mounts::find(uint32_t device, std::string_view path) const {
  const Mount* by_path = nullptr;
  for (const Mount& mount : mounts_) {
    if (!lies_in(path, mount.point)) continue;
    if (device != 0 && mount.device == device) return &mount;
    if (!by_path) by_path = &mount;
  }
  return by_path;
}

const Mount* Mounts::of_device(uint32_t device) const {
  const auto found = std::find_if(mounts_.rbegin(), mounts_.rend(),
                                  [&](const Mount& mount) { return device != 0 && mount.device == device; });
  return found == mounts_.rend() ? nullptr : &*found;
}

}  // namespace mlrun::trace
