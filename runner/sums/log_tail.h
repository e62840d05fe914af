// SPDX-License-Identifier: Apache-2.0
// Follows MLLOG files while the command writes them, for the moments at which intervals begin and end. What they mean
// is found out after the run (runner/trace/marks/mllog.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/util/unique_fd.h"

namespace mlrun::sums {

class LogTail {
 public:
  explicit LogTail(const std::vector<std::string>& paths);

  // Moments, in nanoseconds of the wall clock, that lines written since the last look tell of. Costs a system call for
  // each file when there is nothing new.
  const std::vector<int64_t>& look();

  // Which of the paths is that file, as of the last look; -1: none.
  [[nodiscard]] int32_t log_of(uint32_t device, uint64_t inode) const;

 private:
  struct File {
    std::string path;
    util::UniqueFd fd;
    uint64_t inode = 0;
    uint32_t device = 0;
    uint64_t read_bytes = 0;
    std::string line;  // the beginning of one that is not whole yet
  };
  void read(File& file);
  void read_line(const std::string& line);

  std::vector<File> files_;
  std::vector<int64_t> moments_;
};

}  // namespace mlrun::sums
