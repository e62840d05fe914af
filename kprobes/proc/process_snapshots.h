// SPDX-License-Identifier: Apache-2.0
// Describes processes without libmlrun_preload.so: at the first record of a process, and again after an exec, it reads
// /proc and writes records to the spool. Processes that have ended by then have only the records of the BPF programs.
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
  // `drain` drains the rings, with take() for each record. It is called between reads of /proc, so that the rings do
  // not fill up.
  ProcessSnapshots(KernelSpool& spool, std::function<void()> drain)
      : spool_(spool), files_(spool, [this] { drain_if_due(); }), drain_(std::move(drain)) {}
  ProcessSnapshots(const ProcessSnapshots&) = delete;
  ProcessSnapshots& operator=(const ProcessSnapshots&) = delete;

  // Describes a process that the user named (--pid).
  void follow(int pidfd);
  // Leaves a command's process alone until its exec: before it, the process still runs mlrun's program.
  void await_exec(int pidfd);

  // Takes a record from the rings. Queues its process if /proc is to be read for it: read() does so, after the drain.
  void take(const mlrun_kernel_head& head, const void* record, size_t bytes);
  // Reads /proc for a few milliseconds, for at least one queued process. True: more processes are queued.
  bool read();

  // True: all named processes and their descendants have ended. False also if none was named.
  [[nodiscard]] bool all_ended();

 private:
  void take_task(const mlrun_task& task);
  void take_file(uint32_t pid, uint32_t device, uint64_t inode);
  void read_process(uint32_t pid);
  void read_files();
  bool record_process(uint32_t pid);  // false: the process has ended, or executed another program meanwhile
  void record_threads(uint32_t pid);
  void drain_if_due();
  // Removes the next pid after the last one taken, round robin, so that no process waits for ever.
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
