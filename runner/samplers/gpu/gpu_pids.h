// SPDX-License-Identifier: Apache-2.0
// Which process of this machine a driver means. Depending on the driver and the call, it counts processes as the host
// does, or as the container they run in; and mlrun itself may stand in one. So a number counts only where a process that
// has the driver's library mapped, or its device open, bears it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/events/gpu_sample.h"

namespace mlrun::gpu {

struct GpuPid {
  uint32_t pid = 0;  // as mlrun sees it; 0: not known
  mlrun_pid_source source = MLRUN_PID_UNKNOWN;
};

class GpuPids {
 public:
  explicit GpuPids(std::string proc_folder = "/proc") : proc_(std::move(proc_folder)) {}

  // The processes behind the driver's numbers, in their order. Looks through /proc when there is a number that it has
  // not met, at most once a second (`now_ns`, CLOCK_MONOTONIC); for one that nobody was found behind ever more seldom.
  std::vector<GpuPid> resolve(const std::vector<uint32_t>& driver_pids, uint64_t now_ns);

 private:
  struct User {
    uint32_t pid = 0;
    std::vector<uint32_t> inside;  // its numbers in the namespaces below ours
  };
  [[nodiscard]] bool should_look(const std::vector<uint32_t>& driver_pids, uint64_t now_ns);
  void look_for_users();
  [[nodiscard]] bool uses_gpu(const std::string& process) const;
  [[nodiscard]] GpuPid find(uint32_t driver_pid) const;

  std::string proc_;
  std::vector<User> users_;
  std::unordered_map<uint32_t, GpuPid> known_;
  uint64_t next_look_ns_ = 0, look_again_ns_ = 0, pause_ns_ = 0;
};

}  // namespace mlrun::gpu
