// SPDX-License-Identifier: Apache-2.0
// Reads MLLOG files while the command writes them, for the times at which intervals begin and end. The merger parses the
// lines completely after the run (runner/trace/marks/mllog.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/util/unique_fd.h"

namespace mlrun::sums {

class LogTail {
 public:
  explicit LogTail(const std::vector<std::string>& paths);

  // Times of interval bounds, in nanoseconds of the wall clock, from lines written since the last call. Costs one system
  // call per file if nothing is new.
  const std::vector<int64_t>& poll();

  // Index of the path that was this file at the last poll(); -1: none.
  [[nodiscard]] int32_t log_of(uint32_t device, uint64_t inode) const;

 private:
  struct File {
    std::string path;
    util::UniqueFd fd;
    uint64_t inode = 0;
    uint32_t device = 0;
    uint64_t read_bytes = 0;
    std::string line;  // the beginning of an incomplete line
  };
  void read(File& file);
  void read_line(const std::string& line);

  std::vector<File> files_;
  std::vector<int64_t> moments_;
};

}  // namespace mlrun::sums
