// SPDX-License-Identifier: Apache-2.0
// The last reported counters of each thread. The counters of ended threads are combined by process.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runner/events/spool.h"
#include "runner/model/rows.h"
#include "runner/util/drop_counts.h"

namespace mlrun::sums {

class ThreadTotals {
 public:
  // A thread begins. `shown`: the spool has the frame that describes its channel; false for threads beyond the bound. The
  // sums of a process go to its first shown thread (channel_of).
  void begin(uint64_t channel, uint32_t process, bool shown);

  // Returns the changes of the counters since the thread's frame before, as rows without a process.
  std::vector<model::AllocSmallRow> count(uint64_t channel, const mlrun_frame_counters& counters,
                                          const mlrun_counter_entry* entries, uint32_t number);
  void drop(uint64_t channel, const util::DropCounts& totals);
  void leave_out(uint64_t channel, const mlrun_left_out& totals);

  // The thread has ended and its records are drained. True: it was the last one of its process.
  bool end(uint64_t channel);

  [[nodiscard]] bool is_shown(uint64_t channel) const;
  // Process number of a channel; 0: unknown.
  [[nodiscard]] uint32_t process_of(uint64_t channel) const;
  // The channel that represents the process in the sums; 0: none of its threads is shown.
  [[nodiscard]] uint64_t channel_of(uint32_t process) const;

  // Appends the frames of all threads.
  void write(std::string& text, uint64_t now_ns) const;

 private:
  struct Totals {
    std::map<uint64_t, mlrun_counter_entry> classes;
    util::DropCounts drops{};
    mlrun_left_out left_out{};
    void add(const Totals& other);
    [[nodiscard]] bool any() const;
  };
  struct Thread {
    uint32_t process = 0;
    bool shown = false;
    Totals totals;
  };
  struct Process {
    uint64_t channel = 0;        // of its first shown thread
    uint64_t ended_channel = 0;  // of its first shown thread that ended: gets the counters of all ended threads
    uint32_t live = 0;
    Totals ended;
  };
  static void write(std::string& text, uint64_t now_ns, uint64_t channel, const Totals& totals);

  std::unordered_map<uint64_t, Thread> threads_;  // live threads, by channel
  std::unordered_map<uint32_t, Process> processes_;
};

}  // namespace mlrun::sums
