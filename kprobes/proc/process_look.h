// SPDX-License-Identifier: Apache-2.0
// Who the processes are that no library of ours is in: at the first record of each, and again after an exec, /proc is
// asked, and what it says becomes records. Of what has ended by then only the kernel's records tell.
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

class ProcessLook {
 public:
  // `drain` hands over what the rings hold, by take(); it is called between looks, so that they do not fill up
  // meanwhile.
  ProcessLook(KernelSpool& spool, std::function<void()> drain)
      : spool_(spool), files_(spool, [this] { drain_if_due(); }), drain_(std::move(drain)) {}
  ProcessLook(const ProcessLook&) = delete;
  ProcessLook& operator=(const ProcessLook&) = delete;

  // A process that was asked for by itself.
  void follow(int pidfd);

  // Notes of what to look at; the look comes later, outside of the rings.
  void take(const mlrun_kernel_head& head, const void* record, size_t bytes);
  // For a few milliseconds, and a process at least. True: there are more.
  bool look();

  // None of those that were asked for lives any more, nor any child of theirs. False where none was asked for.
  [[nodiscard]] bool all_ended();

 private:
  void take_task(const mlrun_task& task);
  void take_file(uint32_t pid, uint32_t device, uint64_t inode);
  void look_at(uint32_t pid);
  void look_at_files();
  bool tell_process(uint32_t pid);  // false: it has ended, or became another program meanwhile
  void tell_threads(uint32_t pid);
  void drain_if_due();
  // The one behind the last that was taken: none waits for ever.
  uint32_t take_next(std::set<uint32_t>& pids);

  KernelSpool& spool_;
  SeenFiles files_;
  std::function<void()> drain_;
  std::set<uint32_t> known_, new_, opened_, living_;
  bool asked_for_some_ = false;
  uint64_t next_files_ns_ = 0, drained_ns_ = 0;
  uint32_t last_pid_ = 0;
  // The process of which /proc is asked, since when, and whether it called exec meanwhile.
  uint32_t asked_pid_ = 0;
  uint64_t asked_ns_ = 0;
  bool has_execed_ = false;
};

}  // namespace mlrun::probes
