// SPDX-License-Identifier: Apache-2.0
// A recording for the victims alone: a temporary trace folder, an arena, and a thread that collects as `mlrun run` does.
// Lossless, since a record that is dropped costs less than one that is written.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "runner/collect/recording.h"
#include "runner/util/result.h"

namespace mlrun::bench {

struct Collected {
  uint64_t records = 0;
  uint64_t counted = 0;  // allocations
  uint64_t drops = 0;
  uint64_t cpu_ns = 0;  // of the collecting thread
};

class Collection {
 public:
  // `cpus`: where the thread may run.
  static Result<std::unique_ptr<Collection>> start(const cpu_set_t& cpus);
  ~Collection();  // removes everything
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string session_variable() const { return recording_->session_variable(); }
  void set_paused(bool paused);

  // Ends the recording. To be called once, after the victims have ended.
  Result<Collected> finish();

 private:
  Collection(std::string folder, std::unique_ptr<collect::Recording> recording);
  void collect();
  void stop_thread();

  std::string folder_;
  std::unique_ptr<collect::Recording> recording_;
  std::atomic<bool> enough_ = false;
  std::atomic<uint64_t> cpu_ns_ = 0;
  std::thread thread_;
  bool finished_ = false;
};

}  // namespace mlrun::bench
