// SPDX-License-Identifier: Apache-2.0
// User and command of a process on a GPU, read from /proc at every sample: the pid may have been reused since the last
// one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/monitor/gpu_board.h"

namespace mlrun::monitor {

struct ProcessName {
  std::string user, comm, args;  // empty: unreadable, or not requested
};

class ProcessNames {
 public:
  struct Wanted {
    bool users = true;  // may block on a directory service
    bool args = false;  // arguments of the command, with secrets masked (runner/util/secrets.h)
  };
  explicit ProcessNames(Wanted wanted, std::string proc_folder = "/proc")
      : wanted_(wanted), proc_(std::move(proc_folder)) {}

  [[nodiscard]] ProcessName of(uint32_t pid);

  // Fills in user, comm and args of each process.
  void fill(std::vector<ProcessNow>& processes);

 private:
  [[nodiscard]] std::string user_of(const std::string& process);

  Wanted wanted_;
  std::string proc_;
  std::unordered_map<uint32_t, std::string> users_;
};

}  // namespace mlrun::monitor
