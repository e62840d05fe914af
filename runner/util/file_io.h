// SPDX-License-Identifier: Apache-2.0
// Small files as a whole: read at once, replaced atomically.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::util {

// The file's content, at most `limit_bytes` of it; empty if unreadable. For files of /proc and /sys, which may
// disappear.
std::string read_text(const std::string& path, size_t limit_bytes = 1 << 24);

// The first line, without its newline; empty if unreadable. For files of /proc and /sys that have one line.
std::string read_line(const std::string& path);

// The whole content. Fails if the file has more than `limit_bytes`.
Result<std::string> read_file(const std::string& path, size_t limit_bytes = SIZE_MAX);

// Size limit for files that a person writes (placement rules, sweep plans). A larger file was named by mistake, for
// example an endless device.
inline constexpr size_t kWrittenBytesMax = 16 << 20;

// Writes a temporary file beside `path` and renames it. Does not sync to disk: on a busy file system that can take
// seconds.
Status write_atomically(const std::string& path, std::string_view text, mode_t mode);

// Makes the folder and those above it, as far as they do not exist.
Status make_folders(const std::string& path);

// The path without links, "." and "..". Fails if it does not exist.
Result<std::string> real_path(const std::string& path);

}  // namespace mlrun::util
