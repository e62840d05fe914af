// SPDX-License-Identifier: Apache-2.0
// perf events with addresses, for a process and all processes that it starts. Each event has a descriptor and a ring for each processor:
// inherited events of several processors cannot share a ring.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/decode/perf_sample.h"
#include "runner/events/access_sample.h"
#include "runner/util/id_list.h"
#include "runner/util/unique_fd.h"

namespace mlrun::access {

// The fields that perf records for each sample.
inline constexpr uint64_t kEventSample = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT |
                                         PERF_SAMPLE_DATA_SRC;

// Attributes of an event of user space with these fields and times on CLOCK_MONOTONIC. The caller sets type, config and period.
perf_event_attr sampled_event();

struct AccessEvent {
  perf_event_attr attr{};
  std::string name;                            // mem-loads
  mlrun_access_kind kind = MLRUN_ACCESS_LOAD;  // used if a sample's data source names neither; of a fault: always
  std::optional<perf_event_attr> leader = {};  // an event without samples that has to lead the event's group
  util::IdList cpus = {};                      // the processors that have the event; empty: all
  bool counts_accesses = true;                 // the unit of a sample's period; false: it is another, as cycles
  std::string if_invalid = {};  // what it means that the kernel refuses the event by EINVAL; empty: unknown
};

// Pages of data of each ring. An ordinary user may lock kernel.perf_event_mlock_kb (128 pages and one) for each processor, for all events
// together. `may_lock_more`: CAP_IPC_LOCK, to which that limit does not apply.
size_t ring_pages(size_t events, bool may_lock_more);

class PerfRing {
 public:
  // Maps the ring of an event. `counts_lost`: the event counts lost samples itself (PERF_FORMAT_LOST, Linux 6.0). Returns errno; 0: mapped.
  int map(util::UniqueFd event, size_t pages, bool counts_lost);
  PerfRing() = default;
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing();

  // Visits the samples since the previous call.
  void drain(uint64_t sample_type, const std::function<void(const decode::PerfSample&)>& visit);
  // Number of samples that were lost since the previous call. Expensive where the event counts them itself: the kernel then adds up, under a lock, the
  // counts of all threads that inherited the event. So drain() does not do it.
  uint64_t take_lost();
  [[nodiscard]] int event() const { return event_.get(); }

 private:
  util::UniqueFd event_;
  perf_event_mmap_page* page_ = nullptr;
  size_t bytes_ = 0;
  bool counts_lost_ = false;
  uint64_t recorded_lost_ = 0;  // by records in the ring since the previous take_lost()
  uint64_t counted_lost_ = 0;   // the event's count at the previous take_lost()
};

class PerfEvents {
 public:
  // Opens the events for `pid`, each on all online processors that have it. They start at the next exec if `on_exec`, else now. All rings have the
  // same size, which is halved until all fit into the memory that mlrun may lock. Leaves out events that fail; returns one line for each of these.
  std::vector<std::string> open(const std::vector<AccessEvent>& wanted, pid_t pid, bool on_exec);
  [[nodiscard]] bool is_open() const { return !opened_.empty(); }
  void enable(bool on);
  // As those of PerfRing.
  void drain(const std::function<void(const AccessEvent&, const decode::PerfSample&)>& visit);
  uint64_t take_lost();

 private:
  struct Opened {
    AccessEvent event;  // with the attributes that the kernel took
    std::vector<util::UniqueFd> leaders;
    std::vector<PerfRing> rings;
  };
  struct Problem {
    std::string text;  // empty: none
    bool is_of_ring = false;
  };
  static Problem open_one(Opened& one, pid_t pid, size_t pages);

  std::vector<Opened> opened_;
};

// Does the kernel let this process count events in kernel mode? Needs kernel.perf_event_paranoid 1 or less, or CAP_PERFMON.
bool may_count_kernel();

// The processors that are online now.
util::IdList online_processors();

}  // namespace mlrun::access
