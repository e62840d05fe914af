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

// The content, at most `limit_bytes` of it; empty if unreadable. For files of /proc and /sys, which may
// disappear.
std::string read_text(const std::string& path, size_t limit_bytes = 1 << 24);

// Fails if there is more than `limit_bytes`.
Result<std::string> read_file(const std::string& path, size_t limit_bytes = SIZE_MAX);

// The largest file that a person may have written. A larger one is something else, such as a device without an end.
inline constexpr size_t kWrittenBytesMax = 16 << 20;

// Writes a temporary file beside `path` and renames it. Does not sync to disk: on a busy file system that can take
// seconds.
Status write_atomically(const std::string& path, std::string_view text, mode_t mode);

}  // namespace mlrun::util
