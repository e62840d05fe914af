// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/spool_channels.h"

#include <algorithm>

#include "runner/decode/limits.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

std::optional<uint32_t> SpoolChannels::index_of(uint64_t serial) {
  const uint64_t key = util::scrambled(serial);
  if (const uint32_t* known = by_serial_.find(key)) return *known;
  if (channels_.size() >= decode::kChannelsMax) return std::nullopt;
  const auto index = static_cast<uint32_t>(channels_.size());
  by_serial_.at(key) = index;
  Channel channel;
  channel.serial = serial;
  channel.clock_kind = session_clock_;
  channels_.push_back(channel);
  any_ticks_ = any_ticks_ || channel.clock_kind == MLRUN_CLOCK_TSC;
  return index;
}

const Channel* SpoolChannels::find(uint64_t serial) {
  const uint32_t* index = by_serial_.find(util::scrambled(serial));
  return index ? &channels_[*index] : nullptr;
}

// A recovery may describe a channel again. Host pids and a start time that the new description lacks keep their values.
// The channel's clock kind must not change, since rows may have been placed by it.
void SpoolChannels::describe(uint64_t serial, const mlrun_frame_channel& about) {
  const bool is_new = find(serial) == nullptr;
  const auto index = index_of(serial);
  if (!index) return;
  Channel& channel = channels_[*index];
  const mlrun_frame_channel before = channel.about;
  channel.about = about;
  channel.described = true;
  if (about.host_pid == 0) channel.about.host_pid = before.host_pid;
  if (about.host_tid == 0) channel.about.host_tid = before.host_tid;
  if (about.start_ticks == 0) channel.about.start_ticks = before.start_ticks;
  const bool known_kind = about.clock_kind == MLRUN_CLOCK_TSC || about.clock_kind == MLRUN_CLOCK_MONOTONIC;
  if (is_new && known_kind) channel.clock_kind = static_cast<mlrun_clock_kind>(about.clock_kind);
  any_ticks_ = any_ticks_ || channel.clock_kind == MLRUN_CLOCK_TSC;
}

void SpoolChannels::count(uint64_t serial, const CounterNote& counters) {
  const auto index = index_of(serial);
  if (!index) return;
  Channel& channel = channels_[*index];
  const bool final = channel.has_counters && channel.counters.final;
  channel.counters = counters;
  channel.counters.final = final || counters.final;
  channel.has_counters = true;
}

void SpoolChannels::drop_records(uint64_t serial, const util::DropCounts& totals) {
  if (const auto index = index_of(serial)) channels_[*index].drops = totals;
}

void SpoolChannels::leave_out(uint64_t serial, const mlrun_left_out& totals) {
  const auto index = index_of(serial);
  if (!index) return;
  Channel& channel = channels_[*index];
  if (!channel.has_left_out) channel.first_left_out = totals;
  channel.has_left_out = true;
  channel.left_out = totals;
}

// Twins are frames of one channel with the same sequence number. A collector that is killed after it wrote a channel's
// last frames to the staging ring, but before it recorded so, causes them: the recovery writes these frames again.
bool SpoolChannels::wins_against_twin(Channel& channel, const FrameNote& frame) {
  for (Channel::Recent& twin : channel.recent) {
    if (twin.seq != frame.seq) continue;
    if (frame.payload_bytes <= twin.payload_bytes) return false;
    drop(twin.offset);
    channel.lost -= std::min<uint64_t>(channel.lost, twin.lost);
    twin = {frame.seq, frame.offset, frame.payload_bytes, frame.rows, frame.lost};
    return true;
  }
  return false;
}

void SpoolChannels::note_loss(uint32_t index, const FrameNote& frame) {
  channels_[index].lost += frame.lost;
  if (frame.lost == 0 || losses_.size() >= decode::kLossSpansMax) return;
  losses_.push_back({index, frame.first, frame.last, frame.lost});
}

std::optional<uint32_t> SpoolChannels::add(const FrameNote& frame) {
  const auto index = index_of(frame.channel);
  if (!index) {
    ++frames_left_out_;
    drop(frame.offset);
    return std::nullopt;
  }
  Channel& channel = channels_[*index];
  if (begins_late_ && !channel.met) {
    channel.begins_late = frame.seq != 0;
    channel.next_seq = frame.seq;
  }
  channel.met = true;
  if (frame.seq < channel.next_seq) {
    if (!wins_against_twin(channel, frame)) {
      drop(frame.offset);
      return std::nullopt;
    }
  } else {
    if (!leaves_out_) channel.missing_frames += frame.seq - channel.next_seq;
    channel.next_seq = frame.seq == UINT64_MAX ? frame.seq : frame.seq + 1;
    std::rotate(channel.recent.begin(), channel.recent.end() - 1, channel.recent.end());
    channel.recent.front() = {frame.seq, frame.offset, frame.payload_bytes, frame.rows, frame.lost};
  }
  note_loss(*index, frame);
  if (frame.type == MLRUN_FRAME_DATA && frame.rows != 0) {
    channel.first = std::min(channel.first, frame.min_start);
    channel.last = std::max(channel.last, frame.max_end);
  }
  return index;
}

}  // namespace mlrun::trace
