// SPDX-License-Identifier: Apache-2.0
// Who a process on a GPU is, read from /proc at every look: a number may be somebody else's at the next one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/monitor/gpu_board.h"

namespace mlrun::monitor {

struct ProcessName {
  std::string user, comm, args;  // empty: cannot be read, or not asked for
};

class ProcessNames {
 public:
  struct Wanted {
    bool users = true;  // may wait for whoever knows them: a directory service
    bool args = false;  // the command's, without what looks like a secret (runner/util/secrets.h)
  };
  explicit ProcessNames(Wanted wanted, std::string proc_folder = "/proc")
      : wanted_(wanted), proc_(std::move(proc_folder)) {}

  [[nodiscard]] ProcessName of(uint32_t pid);

  // Fills in user, comm and args of each.
  void fill(std::vector<ProcessNow>& processes);

 private:
  [[nodiscard]] std::string user_of(const std::string& process);

  Wanted wanted_;
  std::string proc_;
  std::unordered_map<uint32_t, std::string> users_;
};

}  // namespace mlrun::monitor
