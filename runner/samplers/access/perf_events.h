// SPDX-License-Identifier: Apache-2.0
// Events of perf with addresses, of a process and all that it starts: one event and ring for each processor, since an inherited event
// cannot share one.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/decode/perf_sample.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

// What is recorded of each sample.
inline constexpr uint64_t kEventSample = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT |
                                         PERF_SAMPLE_DATA_SRC;

// An event of user space with these samples, of CLOCK_MONOTONIC. Type, config and period are the caller's.
perf_event_attr sampled_event();

class PerfRing {
 public:
  // Maps the ring of an event, which counts what it loses from Linux 6.0 on (PERF_FORMAT_LOST). Returns errno; 0: it is mapped.
  int map(util::UniqueFd event, size_t pages, bool counts_lost);
  PerfRing() = default;
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing();

  // Visits what came since the previous call. Returns the number of samples that were lost or throttled away.
  uint64_t drain(uint64_t sample_type, const std::function<void(const decode::PerfSample&)>& visit);
  [[nodiscard]] int event() const { return event_.get(); }

 private:
  util::UniqueFd event_;
  perf_event_mmap_page* page_ = nullptr;
  size_t bytes_ = 0;
  bool counts_lost_ = false;
  uint64_t lost_ = 0;  // at the previous drain
};

class PerfEvents {
 public:
  // Opens the event of `pid`, on every processor; it begins at the next exec if `on_exec`, else now. Returns what failed; empty: nothing.
  std::string open(perf_event_attr attr, pid_t pid, bool on_exec);
  void enable(bool on);
  uint64_t drain(const std::function<void(const decode::PerfSample&)>& visit);

 private:
  std::vector<PerfRing> rings_;
  uint64_t sample_type_ = 0;
};

// The processors that are there now.
std::vector<int> online_processors();

}  // namespace mlrun::access
