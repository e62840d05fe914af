// SPDX-License-Identifier: Apache-2.0
// Cuts a gap (a time in which a GPU was idle) into pieces and finds the cause of each piece. A gap belongs to the thread
// that launched the GPU operation which ends it. While this thread waits for another thread, the other thread's activity
// counts: for a pipe, the thread that wrote the data read next; else the waker that the kernel side recorded; else, for
// locks, the last active thread of the process; for local sockets, a thread that wrote into one at that time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/idle/activities.h"
#include "runner/idle/gap_finder.h"
#include "runner/model/gpu_idle.h"
#include "runner/model/threads_by_tid.h"
#include "runner/model/trace_info.h"

namespace mlrun::idle {

class Blame {
 public:
  // Requires: `info` and `activities` outlive this. `waits_are_known`: calls or sleeps are recorded, so that a
  // thread outside of these counts as on a processor; else its activity is unknown.
  Blame(const model::TraceInfo& info, const Activities& activities, bool waits_are_known);

  // Pieces of `part`, the part of the gap within the window that `activities` has loaded. `talks`: times of communication
  // kernels on the gap's GPU.
  std::vector<model::IdleRow> pieces(const Gap& gap, Stretch part, const std::vector<Stretch>& talks);

 private:
  struct Who {
    int32_t thread_id = 0;
    int32_t hops = 0;
    model::IdleLink link = model::IdleLink::kNone;
    int64_t first_call_id = 0;
  };
  void before_launch(Stretch part);
  void blame(const Who& who, Stretch part);
  void outside_of_calls(const Who& who, Stretch part);
  void in_cuda_or_not(const Who& who, Stretch part);
  void asleep_or_not(const Who& who, Stretch part);
  void in_call(const Who& who, const Activity& call, Stretch part);
  void follow(const Who& who, const Who& next, const Activity& call, Stretch part);
  [[nodiscard]] Who find_writer(const Who& who, const Activity& call) const;
  [[nodiscard]] const Activity* read_after(const Who& who, const Activity& call) const;
  [[nodiscard]] Who find_waker(const Who& who, const Activity& call) const;
  [[nodiscard]] Who find_neighbour(const Who& who, const Activity& call) const;
  [[nodiscard]] Who find_answer(const Who& who, const Activity& call) const;
  static void prove(model::IdleRow& row, model::IdleProof table, const Stretch& by);
  model::IdleRow& put(model::IdleLabel label, const Who& who, Stretch part);

  const model::TraceInfo& info_;
  const Activities& activities_;
  bool waits_are_known_;
  std::unordered_map<int32_t, const model::ThreadRow*> threads_;  // by id
  model::ThreadsByTid by_tid_;
  std::unordered_map<int32_t, std::vector<int32_t>> of_process_;  // proc_id -> thread ids
  const Gap* gap_ = nullptr;
  std::vector<model::IdleRow> rows_;
};

}  // namespace mlrun::idle
