// SPDX-License-Identifier: Apache-2.0
// perf events with addresses, for a process and all processes that it starts. There is one event and one ring for each processor: inherited
// events of several processors cannot share a ring.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/decode/perf_sample.h"
#include "runner/util/id_list.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

// The fields that perf records for each sample.
inline constexpr uint64_t kEventSample = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT |
                                         PERF_SAMPLE_DATA_SRC;

// Attributes of an event of user space with these fields and times on CLOCK_MONOTONIC. The caller sets type, config and period.
perf_event_attr sampled_event();

class PerfRing {
 public:
  // Maps the ring of an event. `counts_lost`: the event counts lost samples itself (PERF_FORMAT_LOST, Linux 6.0). Returns errno; 0: mapped.
  int map(util::UniqueFd event, size_t pages, bool counts_lost);
  PerfRing() = default;
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing();

  // Visits the samples since the previous call. Returns the number of samples that were lost since then.
  uint64_t drain(uint64_t sample_type, const std::function<void(const decode::PerfSample&)>& visit);
  [[nodiscard]] int event() const { return event_.get(); }

 private:
  util::UniqueFd event_;
  perf_event_mmap_page* page_ = nullptr;
  size_t bytes_ = 0;
  bool counts_lost_ = false;
  uint64_t lost_ = 0;  // the event's count at the previous drain
};

class PerfEvents {
 public:
  // Opens the event for `pid` on every processor. It starts at the next exec if `on_exec`, else now. Returns the error; empty: none.
  std::string open(perf_event_attr attr, pid_t pid, bool on_exec);
  void enable(bool on);
  uint64_t drain(const std::function<void(const decode::PerfSample&)>& visit);

 private:
  std::vector<PerfRing> rings_;
  uint64_t sample_type_ = 0;
};

// The processors that are online now.
util::IdList online_processors();

}  // namespace mlrun::access
