// SPDX-License-Identifier: Apache-2.0
// The system calls of the untraced program on one file, by strace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::preload_test {

struct StraceCounts {
  uint64_t reads = 0, read_bytes = 0;  // read, pread, readv; without those that gave 0 bytes or failed
  uint64_t empty_reads = 0;            // the end of the file
  uint64_t writes = 0, write_bytes = 0;
  uint64_t directory_reads = 0;  // getdents64
  uint64_t opens = 0, closes = 0;
};

// Of calls on descriptors of `path` (absolute), in all processes of the command.
StraceCounts strace_counts(const std::vector<std::string>& command, const std::string& path);

}  // namespace mlrun::preload_test
