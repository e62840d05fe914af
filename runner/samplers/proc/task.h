// SPDX-License-Identifier: Apache-2.0
// Samples one thread: its state and the resources that it used, from two files in /proc.
//
//   schedstat   1 µs    time on a processor, time in the run queue, how often it got a processor
//   stat        10 µs   state, clock ticks in user and in kernel mode, page faults that read from a device
//
// A thread that slept at the previous sample and got no processor since then still sleeps, with the same numbers and the
// same stack: its `stat` is not read again. Most threads of a program sleep most of the time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/events/host_sample.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::proc {

class Task {
 public:
  struct Ids {
    uint32_t process = 0, tid = 0;  // as in mlrun_thread_sample
    uint32_t host_pid = 0, host_tid = 0;
    auto operator<=>(const Ids&) const = default;
  };
  // `keeps_open`: keeps two descriptors.
  Task(const Ids& ids, bool keeps_open);

  // What a sample saw. If two samples are equal and `is_asleep`, the thread did not run in between. `state` 0: unknown.
  struct Sight {
    uint64_t run_ns = 0, turns = 0;
    bool has_turns = false;  // the kernel counts `turns`
    char state = 0;
    [[nodiscard]] bool is_asleep() const { return has_turns && (state == 'S' || state == 'D'); }
    bool operator==(const Sight&) const = default;
  };

  // Adds the rows of the time since the previous sample. A sleeping thread's row is held back until the thread runs, for
  // kHeldNs at most. False: the thread has ended. If its files cannot be opened for lack of descriptors, its next row has
  // this time too.
  bool sample(uint64_t now_ns, std::vector<mlrun_thread_sample>& rows);
  // Adds the row that is held back.
  void finish(std::vector<mlrun_thread_sample>& rows);

  // After an exec the thread belongs to another process number.
  void set_process(uint32_t process) { ids_.process = process; }
  [[nodiscard]] const Ids& ids() const { return ids_; }
  [[nodiscard]] const Sight& sight() const { return sight_; }
  [[nodiscard]] uint64_t sampled_ns() const { return sampled_ns_; }
  [[nodiscard]] bool is_kept_open() const { return stat_.is_open(); }

 private:
  static constexpr uint64_t kHeldNs = 10'000'000'000;

  // Totals since the thread was created.
  struct Totals {
    uint64_t user_ticks = 0, system_ticks = 0, majflt = 0, run_ns = 0, runq_ns = 0;
  };
  bool read_turns(Sight& sight, Totals& totals) const;
  enum class Stat { kRead, kRefused, kEnded };
  Stat read_stat(Sight& sight, Totals& totals);
  [[nodiscard]] mlrun_thread_sample row(uint64_t begin_ns, uint64_t end_ns, const Totals& now) const;

  Ids ids_;
  ProcFile schedstat_, stat_;
  Sight sight_;
  Totals totals_;             // at the end of the last row
  uint64_t row_end_ns_ = 0;   // end of the last row
  uint64_t sampled_ns_ = 0;   // 0: never. If later than row_end_ns_, a row is held back
  uint64_t start_ticks_ = 0;  // since boot
  bool is_first_ = true;
  std::array<char, 16> comm_{};
};

}  // namespace mlrun::proc
