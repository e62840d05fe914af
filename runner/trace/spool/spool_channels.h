// SPDX-License-Identifier: Apache-2.0
// The channels of a spool: the thread that owns each, which of its frames count, and how many records it lost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runner/events/spool.h"
#include "runner/model/rows.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/util/drop_counts.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

// Clock values are in the channel's clock.
struct Channel {
  uint64_t serial = 0;
  mlrun_frame_channel about{};  // all zero: not described in the spool
  bool described = false;
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;  // fixed by the channel's first frame
  uint64_t first = UINT64_MAX, last = 0;          // times of its rows
  uint64_t next_seq = 0;
  uint64_t missing_frames = 0;
  uint64_t lost = 0;     // records, by its frames' headers
  CounterNote counters;  // the latest
  util::DropCounts drops{};
  bool has_counters = false;
  mlrun_left_out left_out{}, first_left_out{};
  bool has_left_out = false;
  bool met = false;          // a frame of it was read
  bool begins_late = false;  // its first frames were freed from the spool

  model::Origin origin;  // set when all channels are known; ts_ns is unused

  // The channel's last frames, to detect twins: frames with the same sequence number.
  struct Recent {
    uint64_t seq = UINT64_MAX, offset = 0;
    uint32_t payload_bytes = 0, rows = 0, lost = 0;
  };
  std::array<Recent, 3> recent;
};

// Records dropped by one channel between two reads of its counters by the collector.
struct LossSpan {
  uint32_t channel = 0;  // index
  uint64_t first = 0, last = 0;
  uint64_t count = 0;
};

class SpoolChannels {
 public:
  // `session_clock`: clock of channels that the spool does not describe.
  explicit SpoolChannels(mlrun_clock_kind session_clock) : session_clock_(session_clock) {}

  void describe(uint64_t serial, const mlrun_frame_channel& about);
  void count(uint64_t serial, const CounterNote& counters);
  void drop_records(uint64_t serial, const util::DropCounts& totals);
  void leave_out(uint64_t serial, const mlrun_left_out& totals);

  // The beginning of the spool was freed: accepts any first frame number of a channel.
  void set_begins_late(bool late) { begins_late_ = late; }

  // The spool omits data frames that are already in sums.bin, so a missing frame number is no loss.
  void set_leaves_out(bool leaves_out) { leaves_out_ = leaves_out; }

  // Returns the channel index of a frame, or nullopt if the frame must not be read (a shorter twin, or too many channels).
  std::optional<uint32_t> add(const FrameNote& frame);

  // nullptr: unknown.
  [[nodiscard]] const Channel* find(uint64_t serial);
  [[nodiscard]] std::vector<Channel>& all() { return channels_; }
  [[nodiscard]] const std::vector<Channel>& all() const { return channels_; }
  [[nodiscard]] const std::vector<LossSpan>& losses() const { return losses_; }

  // Whether the frame at the offset must not be read, as add() found or because a longer twin came later.
  [[nodiscard]] bool is_dropped(uint64_t offset) {
    return dropped_.size() != 0 && dropped_.find(util::scrambled(offset)) != nullptr;
  }
  [[nodiscard]] bool any_ticks() const { return any_ticks_; }
  [[nodiscard]] uint64_t frames_left_out() const { return frames_left_out_; }

 private:
  std::optional<uint32_t> index_of(uint64_t serial);
  bool wins_against_twin(Channel& channel, const FrameNote& frame);
  void drop(uint64_t offset) { dropped_.at(util::scrambled(offset)) = 1; }
  void note_loss(uint32_t index, const FrameNote& frame);

  mlrun_clock_kind session_clock_;
  std::vector<Channel> channels_;
  util::FlatMap<uint32_t> by_serial_;
  util::FlatMap<uint8_t> dropped_;
  std::vector<LossSpan> losses_;
  uint64_t frames_left_out_ = 0;
  bool any_ticks_ = false;
  bool begins_late_ = false, leaves_out_ = false;
};

}  // namespace mlrun::trace
