// SPDX-License-Identifier: Apache-2.0
// Takes over from a dead mlrun.
//
// A collector that is killed leaves, in the arena file, the staging ring and all segments. It commits a frame in three
// steps:
// 1. the frame in the ring and `head`, 2. the drained offset of the segment (data only), 3. the channel's next sequence
// number. All frames but the last one have taken all three, so the last one is looked up and its steps are done again:
// nothing is found twice, nothing is left out.
//
// Without an arena (the machine was started anew) there is the spool alone: it ends with the last frame that is whole.
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
  std::string arena_path;  // may be gone
  std::string session;     // as session_text() gives it: an arena of another session is left alone
  bool same_boot = true;
  bool outage = true;  // nobody collected since the last frame
};

class Recovery {
 public:
  static Result<std::unique_ptr<Recovery>> open(const RecoveryOptions& options);

  // Stops recording, drains the arena, completes the spool, removes the arena. May be repeated after a failure.
  Status complete();

  // Null where there is no arena.
  [[nodiscard]] const Collector* collector() const { return collector_.get(); }
  [[nodiscard]] const Spool& spool() const { return *spool_; }
  [[nodiscard]] const mlrun_control* control() const { return arena_ ? &arena_->control() : nullptr; }

 private:
  explicit Recovery(RecoveryOptions options) : options_(std::move(options)) {}
  Status continue_ring(SpoolFile file);
  Status continue_file(SpoolFile file);
  void tell_outage_without_arena();

  RecoveryOptions options_;
  std::optional<Arena> arena_;
  util::Mapping ring_;  // where there is no arena
  __u64 ring_head_ = 0, ring_tail_ = 0;
  std::unique_ptr<Spool> spool_;
  std::unique_ptr<Collector> collector_;
  uint64_t last_beat_ns_ = 0;
};

// The session's UUID as text.
std::string session_text(const Uuid& uuid);

}  // namespace mlrun::collect
