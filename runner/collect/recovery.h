// SPDX-License-Identifier: Apache-2.0
// Completes the recording of an mlrun that ended without completing it: killed, or after an error.
//
// The arena file still has the staging ring and all segments. A frame is committed in three steps:
// 1. the frame in the ring and `head`, 2. the drained offset of the segment (data only), 3. the channel's next sequence
// number. Only the last frame may lack steps 2 and 3. Recovery finds that frame and repeats these steps, so no record is
// duplicated or lost.
//
// Without an arena file (a reboot empties /dev/shm) only the spool remains: it ends with the last complete frame.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/collect/collector.h"
#include "runner/collect/mapped_arena.h"
#include "runner/collect/spool_writer.h"

namespace mlrun::collect {

struct RecoveryOptions {
  std::string trace_folder;
  std::string arena_path;  // may not exist
  std::string session;     // from session_text(): an arena of another session is not touched
  bool same_boot = true;
  bool outage = true;  // no collector ran since the last frame
};

class Recovery {
 public:
  static Result<std::unique_ptr<Recovery>> open(const RecoveryOptions& options);

  // Stops recording, drains the arena, completes the spool, removes the arena. After a failure it may be called again.
  Status complete();

  // Null without an arena.
  [[nodiscard]] const Collector* collector() const { return collector_.get(); }
  [[nodiscard]] const Spool& spool() const { return *spool_; }
  [[nodiscard]] const mlrun_control* control() const { return arena_ ? &arena_->control() : nullptr; }
  [[nodiscard]] mlrun_placement* placement() const { return arena_ ? &arena_->placement() : nullptr; }

 private:
  explicit Recovery(RecoveryOptions options) : options_(std::move(options)) {}
  Status continue_ring(SpoolFile file);
  Status continue_file(SpoolFile file);
  void record_outage_without_arena();

  RecoveryOptions options_;
  std::optional<Arena> arena_;
  util::Mapping ring_;  // used without an arena
  __u64 ring_head_ = 0, ring_tail_ = 0;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Collector> collector_;
  uint64_t last_beat_ns_ = 0;
};

// The session's UUID as text.
std::string session_text(const Uuid& uuid);

}  // namespace mlrun::collect
