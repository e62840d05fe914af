// SPDX-License-Identifier: Apache-2.0
// Describes processes without our library: at the first record of each, and again after an exec, it reads /proc and
// writes records. For processes that have ended by then there are only the kernel's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "kprobes/proc/seen_files.h"
#include "kprobes/rings/kernel_spool.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class ProcessSnapshots {
 public:
  // `drain` passes on what the rings hold, to take(); it is called between reads of /proc, so that the rings do not
  // fill up.
  ProcessSnapshots(KernelSpool& spool, std::function<void()> drain)
      : spool_(spool), files_(spool, [this] { drain_if_due(); }), drain_(std::move(drain)) {}
  ProcessSnapshots(const ProcessSnapshots&) = delete;
  ProcessSnapshots& operator=(const ProcessSnapshots&) = delete;

  // A process that the user named.
  void follow(int pidfd);

  // Queues what to read; read() reads it later, outside of the drain.
  void take(const mlrun_kernel_head& head, const void* record, size_t bytes);
  // Reads for a few milliseconds, at least one process. True: more are queued.
  bool read();

  // True: no named process nor any child of one lives. False if none was named.
  [[nodiscard]] bool all_ended();

 private:
  void take_task(const mlrun_task& task);
  void take_file(uint32_t pid, uint32_t device, uint64_t inode);
  void read_process(uint32_t pid);
  void read_files();
  bool record_process(uint32_t pid);  // false: it has ended or changed its program meanwhile
  void record_threads(uint32_t pid);
  void drain_if_due();
  // The next pid after the last one taken: a round robin, so that each gets its turn.
  uint32_t take_next(std::set<uint32_t>& pids);

  KernelSpool& spool_;
  SeenFiles files_;
  std::function<void()> drain_;
  std::set<uint32_t> known_, new_, opened_, living_;
  bool asked_for_some_ = false;
  uint64_t next_files_ns_ = 0, drained_ns_ = 0;
  uint32_t last_pid_ = 0;
  // The process whose /proc is being read, since when, and whether it called exec meanwhile.
  uint32_t asked_pid_ = 0;
  uint64_t asked_ns_ = 0;
  bool has_execed_ = false;
};

}  // namespace mlrun::probes
