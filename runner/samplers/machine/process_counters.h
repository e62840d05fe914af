// SPDX-License-Identifier: Apache-2.0
// Reads the counters of one process, or of one of its threads, from these files in /proc:
//
//   schedstat     threads: time on a processor and in the run queue, and how often it got a processor
//   stat          times, page faults, state
//   status        threads: context switches
//   statm         processes: resident memory
//   io            bytes and calls
//   smaps_rollup  processes: proportional share of memory (PSS); at most every 20 s, as the kernel walks all pages for it
//
// A thread that slept at the previous sample and got no processor since then has the same numbers, so only schedstat is
// read. status and io of a thread are read once a second and when it has gone to sleep. Rows between two such readings
// lack these numbers; the next row that has them covers the whole time. The files of a process are read if one of its
// threads ran. Files are kept open while there are enough descriptors. A thread that has ended is not confused with a later
// one of its id: an open file cannot be read any more, and the later one has another start time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/samplers/machine/source.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

class ProcessCounters {
 public:
  // `tid` 0: the process as a whole. Keeps up to `files` files open: schedstat (of a process statm), stat, io.
  ProcessCounters(const Places& places, uint32_t pid, uint32_t tid, uint32_t files);

  enum class Seen {
    kGone,    // the files cannot be read any more: the process or thread has ended
    kUnseen,  // the files cannot be opened now, for lack of descriptors: the next row has this time too
    kAsleep,  // a thread that has not run since the previous sample
    kRan
  };
  // Adds the rows of the time since the previous sample. The row of a sleeping thread is held back for kHeldNs at most.
  // Requires: now_ns does not decrease.
  Seen sample(uint64_t now_ns, Batch& batch);
  // Takes a sample without reading: the numbers are those of the previous sample.
  void keep(uint64_t now_ns) { sampled_ns_ = now_ns; }
  // Adds the row that is held back.
  void finish(Batch& batch);

  // Reads PSS from smaps_rollup for the next row. Requires: this is a process, not a thread.
  void wants_share() { wants_share_ = true; }

  [[nodiscard]] uint64_t threads() const { return threads_; }
  [[nodiscard]] uint64_t row_end_ns() const { return row_end_ns_; }
  [[nodiscard]] uint32_t descriptors() const;

 private:
  static constexpr uint64_t kHeldNs = 10'000'000'000;
  using Values = std::array<int64_t, MLRUN_PROCESS_FIELDS>;

  [[nodiscard]] std::string path(const char* name) const;
  struct Reading {
    Values values;
    uint64_t turns = 0;
    bool is_refused = false;  // a file could not be opened for lack of descriptors
  };
  // The text is valid until the next call.
  std::string_view read(const proc::ProcFile& file, const char* name, Reading& reading) const;
  bool read_turns(Reading& reading) const;
  bool read_stat(Reading& reading);
  void read_switches(Reading& reading) const;
  void read_memory(Reading& reading);
  void read_io(Reading& reading);
  void add_row(uint64_t end_ns, const Values& now, Batch& batch);

  std::string folder_;
  uint32_t pid_, tid_;
  proc::ProcFile first_, stat_, io_;  // first_: schedstat of a thread, statm of a process
  bool reads_io_ = true, is_first_ = true, wants_share_ = false;
  bool is_stale_ = false;  // a thread's status and io were not read at the last reading
  char state_ = 0;
  std::array<char, 16> comm_{};
  uint64_t threads_ = 0, turns_ = 0, start_ticks_ = 0;
  uint64_t row_end_ns_ = 0;  // end of the last row
  uint64_t all_read_ns_ = 0;
  uint64_t sampled_ns_ = 0;  // 0: never. If later than row_end_ns_, a row is held back
  Values before_{};          // newest known totals up to the end of the last row
  Values last_{};            // numbers of the last reading
};

}  // namespace mlrun::machine
