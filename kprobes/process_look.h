// SPDX-License-Identifier: Apache-2.0
// Who the processes are that are observed and were not launched: at the first record of each, and again after an exec,
// /proc is asked, and what it says becomes records. Of what has ended by then only the kernel's records tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "kprobes/kernel_spool.h"
#include "kprobes/seen_files.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class ProcessLook {
 public:
  explicit ProcessLook(KernelSpool& spool) : spool_(spool), files_(spool) {}

  // A process that was asked for by itself.
  void follow(int pidfd);

  // Notes of what to look at; the look comes later, outside of the ring.
  void take(const mlrun_kernel_head& head, const void* record, size_t bytes);
  void look(uint64_t now_ns);

  // None of those that were asked for lives any more, nor any child of theirs. False where none was asked for.
  [[nodiscard]] bool all_ended();

 private:
  void take_task(const mlrun_task& task);
  void take_file(uint32_t pid, uint32_t device, uint64_t inode);
  bool tell_process(uint32_t pid, uint64_t now_ns);  // false: it has ended
  void tell_threads(uint32_t pid, uint64_t now_ns);

  KernelSpool& spool_;
  SeenFiles files_;
  std::set<uint32_t> known_, new_, opened_, living_;
  bool asked_for_some_ = false;
  uint64_t next_files_ns_ = 0;
};

}  // namespace mlrun::probes
