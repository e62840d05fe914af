// SPDX-License-Identifier: Apache-2.0
// What is known of the GPUs now: of each the newest look, what its counters have added up to since the monitor began, and
// when it last answered; every GPU has a time of its own. It outlives a driver that goes away: GPUs are known by their UUID.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/samplers/gpu/gpu_watch.h"

namespace mlrun::monitor {

struct GpuAbout {
  uint32_t number = 0, parent = 0;  // as in the rows; parent: of an instance of a divided GPU, else 0
  std::string uuid, name, pci, driver;
  int index = 0;  // NVML's; of an instance that of its GPU
  int64_t memory_bytes = -1;
  bool is_mig = false;
  int32_t gpu_instance = -1, compute_instance = -1;

  // "1", of an instance "1:2.0" with the numbers of both kinds of instance.
  [[nodiscard]] std::string index_text() const;
};

struct GpuHistory {
  uint64_t last_seen_ns = 0;  // CLOCK_REALTIME; 0: it has not answered yet
  uint64_t looks = 0, unanswered = 0;
  std::array<int64_t, MLRUN_GPU_FIELDS> added{};  // of fields that count "in the interval"
  std::array<bool, MLRUN_GPU_FIELDS> counts{};    // whether the GPU ever told such a field
};

struct GpuNow {
  GpuAbout about;
  mlrun_gpu_sample row{};  // the newest; monotonic_ns 0: none yet
  bool answered = false;   // the newest look told something
  GpuHistory history{};
};

struct ProcessNow {
  mlrun_gpu_process_sample row{};
  size_t gpu = 0;                // index in gpus(): the instance that it runs in, where that is known
  std::string user, comm, args;  // empty: not known, or not asked for
};

class GpuBoard {
 public:
  // Which GPUs there are: the texts of GpuWatch::describe(). What was seen of processes is forgotten.
  void set_gpus(const std::vector<std::string>& texts);

  // The rows of one or more looks, in the order of time. Returns whether there were any.
  bool add(const gpu::GpuRows& rows);

  // The driver does not answer: what it said last is no longer true.
  void forget_values();

  [[nodiscard]] const std::vector<GpuNow>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<ProcessNow>& processes() const { return processes_; }
  [[nodiscard]] std::vector<ProcessNow>& processes() { return processes_; }

 private:
  [[nodiscard]] size_t place_of(const mlrun_gpu_process_sample& row) const;

  std::vector<GpuNow> gpus_;
  std::vector<ProcessNow> processes_;
  std::map<std::string, GpuHistory> gone_;  // by UUID: GPUs of an earlier list
};

}  // namespace mlrun::monitor
