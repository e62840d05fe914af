// SPDX-License-Identifier: Apache-2.0
// Parses lines of /proc/PID/maps (also the first line of each mapping in smaps) and of /proc/PID/mountinfo, and splits /proc/PID/stat and
// /proc/PID/status. The texts in a result are views of the given text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlrun::util {

// 7f2c00000000-7f2c00021000 r-xp 00001000 fe:00 12345   /usr/lib/libc.so.6
struct MapsLine {
  uint64_t start = 0, end = 0, file_offset = 0;
  uint32_t major = 0, minor = 0;
  uint64_t inode = 0;
  bool is_code = false;
  std::string_view range, rights;  // "r-xp"
  std::string_view path;           // as written by the kernel, also "[heap]" and "anon_inode:..."; may be empty

  [[nodiscard]] bool has_file() const { return path.starts_with('/'); }
};
std::optional<MapsLine> maps_line(std::string_view line);

// 31 24 0:27 /root /point rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
struct MountLine {
  uint64_t id = 0;
  uint32_t major = 0, minor = 0;
  std::string_view root, point, file_system;  // with octal escapes
  std::string_view options;                   // of the file system; may be empty
};
std::optional<MountLine> mount_line(std::string_view line);

// The fields of /proc/PID/stat behind the name, which may contain blanks and parentheses: [0] is the state, field 3 in proc(5). Empty: it is
// no such text.
std::vector<std::string_view> stat_words(std::string_view text);

// The words behind `name`, such as "NSpid:", in /proc/PID/status or a file of /proc/PID/fdinfo. Empty: there is no such line.
std::vector<std::string_view> status_words(std::string_view text, std::string_view name);

}  // namespace mlrun::util
