// SPDX-License-Identifier: Apache-2.0
// Resolves the driver's process numbers. Depending on the driver and the call, they are pids of the host or of the
// process's container, and mlrun itself may run in a container. So a number is resolved only to a process that has
// the driver's library mapped or its device open: one with that pid, or the only such process if there is one number.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/events/gpu_sample.h"

namespace mlrun::gpu {

struct GpuPid {
  uint32_t pid = 0;  // in mlrun's pid namespace; 0: unknown
  mlrun_pid_source source = MLRUN_PID_UNKNOWN;
};

class GpuPids {
 public:
  explicit GpuPids(std::string proc_folder = "/proc") : proc_(std::move(proc_folder)) {}

  // The processes of `driver_pids`, in the same order. Scans /proc for a new number, at most once a second (`now_ns`,
  // CLOCK_MONOTONIC), and for an unresolved number at growing intervals.
  std::vector<GpuPid> resolve(const std::vector<uint32_t>& driver_pids, uint64_t now_ns);

 private:
  struct User {
    uint32_t pid = 0;
    std::vector<uint32_t> inside;  // the process's pids in the pid namespaces below ours
  };
  [[nodiscard]] bool should_scan(const std::vector<uint32_t>& driver_pids, uint64_t now_ns);
  void look_for_users();
  [[nodiscard]] bool uses_gpu(const std::string& process) const;
  [[nodiscard]] GpuPid find(uint32_t driver_pid) const;

  std::string proc_;
  std::vector<User> users_;
  std::unordered_map<uint32_t, GpuPid> known_;
  uint64_t next_scan_ns_ = 0, rescan_ns_ = 0, pause_ns_ = 0;
};

}  // namespace mlrun::gpu
