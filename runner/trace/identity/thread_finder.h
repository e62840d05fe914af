// SPDX-License-Identifier: Apache-2.0
// Finds the thread of the trace that a system thread id meant at a moment: ids are reused, and an exec starts a new
// image of the same thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class ThreadFinder {
 public:
  ThreadFinder() = default;  // knows no thread
  explicit ThreadFinder(const model::TraceInfo& info);

  // The latest thread of that pid and tid that had begun at `ts_ns`, else the first one. If there is none, only proc_id
  // is set besides pid and tid; it is 0 if the process is unknown too.
  [[nodiscard]] model::Origin find(int64_t ts_ns, uint32_t pid, uint32_t tid) const;

  // The process that had that id at `ts_ns`, or at most `slack_ns` earlier; 0: no recorded one.
  [[nodiscard]] int32_t process_at(int64_t ts_ns, int32_t pid, int64_t slack_ns) const;

 private:
  struct Known {
    int64_t first_ns, last_ns;
    int32_t proc_id, image_id, thread_id;
  };
  using ById = std::unordered_map<uint64_t, std::vector<Known>>;
  static void sort(ById& known);
  static const Known* at(const ById& known, uint64_t id, int64_t ts_ns);

  ById threads_;  // by process and thread id; process id 0: a process without a row
  ById processes_;
};

}  // namespace mlrun::trace
