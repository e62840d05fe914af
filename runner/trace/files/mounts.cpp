// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/mounts.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>

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

std::optional<uint32_t> device_of(std::string_view numbers) {
  const auto parts = util::split(numbers, ":");
  unsigned major = 0, minor = 0;
  if (parts.size() != 2) return std::nullopt;
  const auto read = [](std::string_view text, unsigned& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
  };
  if (!read(parts[0], major) || !read(parts[1], minor)) return std::nullopt;
  return static_cast<uint32_t>(makedev(major, minor));
}

bool lies_in(std::string_view path, std::string_view point) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

}  // namespace

Mounts::Mounts(std::string_view mountinfo) {
  for (const std::string_view line : util::split(mountinfo, "\n")) {
    const auto fields = util::split(line, " ");
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 6 || dash == fields.end() || dash + 1 == fields.end()) continue;
    const auto device = device_of(fields[2]);
    if (device) mounts_.push_back({*device, unescaped(fields[4]), unescaped(*(dash + 1))});
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
