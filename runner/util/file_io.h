// SPDX-License-Identifier: Apache-2.0
// Whole small files: read in one go, written so that a reader sees the old content or the new one and nothing between.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::util {

// The content, at most `limit_bytes` of it; empty when it cannot be read. For files of /proc and /sys, which come and
// go.
std::string read_text(const std::string& path, size_t limit_bytes = 1 << 24);

Result<std::string> read_file(const std::string& path);

// Writes a temporary file beside `path` and renames it. Not synced to the disk: on a file system that others keep busy that can
// take seconds.
Status write_atomically(const std::string& path, std::string_view text, mode_t mode);

}  // namespace mlrun::util
