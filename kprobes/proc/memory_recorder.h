// SPDX-License-Identifier: Apache-2.0
// Records once a second how the machine's memory is used, from /proc/meminfo: buffers of devices and the page cache. So
// a trace shows how much of the files the page cache could hold and how much had to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kprobes/rings/kernel_spool.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

// Parses the text of /proc/meminfo; nullopt: it lacks the lines. The caller sets `head` with the time.
std::optional<mlrun_memory_seen> memory_in(std::string_view meminfo);

class MemoryRecorder {
 public:
  // Requires: spool outlives it.
  explicit MemoryRecorder(KernelSpool& spool) : spool_(spool) {}

  // Reads /proc/meminfo if a second has passed since the last time.
  void sample(uint64_t now_ns);
  // Reads /proc/meminfo and adds a record, whenever the last one was.
  void record(uint64_t now_ns);

 private:
  KernelSpool& spool_;
  uint64_t next_sample_ns_ = 0;
};

}  // namespace mlrun::probes
