// SPDX-License-Identifier: Apache-2.0
// The collector's state of one recording thread.
#pragma once

#include <linux/futex.h>

#include <cstdint>
#include <memory>

#include "runner/collect/counter_watch.h"
#include "runner/collect/shared_word.h"
#include "runner/events/arena.h"
#include "runner/events/spool.h"

namespace mlrun::collect {

struct Channel {
  uint32_t id = 0;  // descriptor id: segment * 16 + slot
  mlrun_channel* shared = nullptr;

  // Copied once, when the descriptor was first seen live: later writes by its owner have no effect.
  uint64_t serial = 0, pid_namespace = 0;
  uint32_t pid = 0, tid = 0, process = 0, image = 0;

  uint32_t host_pid = 0, host_tid = 0;  // 0: unknown
  uint64_t next_seq = 0;
  uint64_t drops_reported = 0;  // drops already reported in frames
  uint64_t newest_clock = 0;    // newest clock value in the headers of its segments; 0: none yet
  uint64_t next_existence_check_ns = 0;
  bool without_robust_list = false;  // the kernel does not mark the descriptor when the thread ends
  bool dead = false;                 // set at the beginning of a pass, so the pass sees all that the thread stored
  uint32_t segments = 0;             // owned segments found during this pass
  bool has_new_data = false;
  std::unique_ptr<CounterWatch> counters = std::make_unique<CounterWatch>();

  [[nodiscard]] bool marked_dead() const { return (load(shared->lock) & FUTEX_OWNER_DIED) != 0; }

  [[nodiscard]] uint64_t drops() const {
    uint64_t sum = 0;
    for (const auto& kinds : shared->drops) {
      for (const __u64& count : kinds) sum += load(count);
    }
    return sum;
  }

  // Header of the channel's next frame; includes the drops that no earlier frame reported.
  mlrun_frame next_frame(mlrun_frame_type type, uint64_t first, uint64_t last) {
    const uint64_t lost = drops() - drops_reported;
    mlrun_frame frame{};
    frame.type = static_cast<__u16>(type);
    frame.channel = serial;
    frame.seq = next_seq;
    frame.first = first;
    frame.last = last;
    frame.lost = lost > UINT32_MAX ? UINT32_MAX : static_cast<__u32>(lost);
    return frame;
  }
  // To be called after the frame is in the spool and the drained offset is stored: see recovery.h.
  void frame_was_put(const mlrun_frame& frame) {
    drops_reported += frame.lost;
    next_seq++;
    store(shared->next_seq, __u64{next_seq});
  }
};

}  // namespace mlrun::collect
