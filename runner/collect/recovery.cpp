// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/recovery.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runner/collect/recording.h"
#include "runner/collect/ring_memory.h"
#include "runner/collect/shared_word.h"
#include "runner/collect/spool_tail.h"
#include "runner/util/clock.h"

namespace mlrun::collect {

namespace {

bool is_sane(uint64_t head, uint64_t tail) {
  return tail <= head && head - tail <= MLRUN_STAGE_BYTES && head % MLRUN_FRAME_ALIGN == 0 &&
         tail % SpoolFile::kPageBytes == 0;
}

// The channel's descriptor in the arena; null: it was freed.
mlrun_channel* find_channel(const Arena& arena, uint64_t serial) {
  for (uint32_t i = 0; i < arena.layout().segment_count; i++) {
    if ((load(arena.owner(i)) & MLRUN_OWNER_MASK) != MLRUN_OWNER_DESCRIPTORS) continue;
    for (uint32_t slot = 1; slot <= MLRUN_CHANNELS_PER_SEGMENT; slot++) {
      mlrun_channel& channel = arena.descriptor(i, slot);
      if (load(channel.state) == MLRUN_CHANNEL_LIVE && load(channel.serial) == serial) return &channel;
    }
  }
  return nullptr;
}

// Repeats steps 2 and 3 (recovery.h) of the last frame; no effect if they were done.
void redo(const Arena& arena, const mlrun_frame& frame) {
  mlrun_channel* channel = frame.channel == 0 ? nullptr : find_channel(arena, frame.channel);
  if (channel == nullptr || load(channel->next_seq) > frame.seq) return;  // freed, or step 3 was done
  const auto segment = static_cast<uint32_t>(frame.spare >> 32);
  const auto end = static_cast<uint32_t>(frame.spare);
  if (frame.type == MLRUN_FRAME_DATA && segment < arena.layout().segment_count && end <= MLRUN_SEGMENT_BYTES) {
    const uint32_t committed = frame.lap << 24 | end;
    uint32_t& drained = arena.drained(segment);
    const bool same_lap = load(arena.owner(segment)) >> 24 == frame.lap;
    const bool behind = load(drained) >> 24 != frame.lap || (load(drained) & 0x00ffffff) < end;
    if (same_lap && behind) store(drained, committed);
  }
  store(channel->next_seq, std::max<__u64>(load(channel->next_seq), frame.seq + 1));
}

}  // namespace

std::string session_text(const Uuid& uuid) {
  std::string text;
  for (const uint8_t byte : uuid) text += fmt::format("{:02x}", byte);
  return text;
}

Result<std::unique_ptr<Recovery>> Recovery::open(const RecoveryOptions& options) {
  std::unique_ptr<Recovery> recovery(new Recovery(options));
  auto file = SpoolFile::open(spool_path(options.trace_folder));
  if (!file) return tl::make_unexpected(file.error());
  auto arena = Arena::open(options.arena_path);
  if (arena && session_text(arena->session()) == options.session) recovery->arena_ = std::move(*arena);
  const Status opened =
      recovery->arena_ ? recovery->continue_ring(std::move(*file)) : recovery->continue_file(std::move(*file));
  if (!opened) return tl::make_unexpected(opened.error());
  return recovery;
}

Status Recovery::continue_ring(SpoolFile file) {
  mlrun_control& control = arena_->control();
  const uint64_t head = load(control.stage_head);
  const uint64_t tail = load(control.stage_tail);
  if (!is_sane(head, tail)) {
    arena_.reset();
    return continue_file(std::move(file));
  }
  const SpoolTail found = read_spool_tail(spool_path(options_.trace_folder), arena_->stage(), tail, head);
  redo(*arena_, found.last_frame);
  last_beat_ns_ = found.last_beat_ns;
  // found.end is larger than `head` if the header of a pad lies before `head`, but not yet the zeros that follow it.
  const Spool::Position position{std::max(head, found.end), tail, found.collector_seq};
  spool_ = std::make_unique<Spool>(Spool::Ring{arena_->stage(), &control.stage_head, &control.stage_tail},
                                   std::move(file), UINT64_MAX, position);
  const ChannelClock clock{arena_->clock_kind(), options_.same_boot ? 0 : std::max<uint64_t>(found.last_clock, 1)};
  collector_ = std::make_unique<Collector>(*arena_, *spool_, clock, found.last_clock);
  return {};
}

Status Recovery::continue_file(SpoolFile file) {
  const SpoolTail found = read_spool_tail(spool_path(options_.trace_folder), nullptr, file.size(), file.size());
  ring_ = make_ring();
  if (!ring_.valid()) return fail_errno("allocate memory for the recovery of the trace", errno);
  last_beat_ns_ = found.last_beat_ns;
  const uint64_t tail = found.end / SpoolFile::kPageBytes * SpoolFile::kPageBytes;
  if (found.end > tail) {
    const ssize_t got =
        ::pread(file.fd(), ring_.data() + tail % MLRUN_STAGE_BYTES, SpoolFile::kPageBytes, static_cast<off_t>(tail));
    if (got < static_cast<ssize_t>(found.end - tail)) return fail_errno("read spool.bin in the trace folder", errno);
  }
  spool_ = std::make_unique<Spool>(Spool::Ring{ring_.data(), &ring_head_, &ring_tail_}, std::move(file), UINT64_MAX,
                                   Spool::Position{found.end, tail, found.collector_seq});
  return {};
}

void Recovery::record_outage_without_arena() {
  const mlrun_frame_gap gap{MLRUN_GAP_COLLECTOR, 0, last_beat_ns_,
                            options_.same_boot ? util::monotonic_ns() : last_beat_ns_, 0};
  mlrun_frame frame{};
  frame.type = MLRUN_FRAME_GAP;
  spool_->put_report(frame, &gap, sizeof gap);
}

Status Recovery::complete() {
  if (collector_ != nullptr) {
    if (options_.outage) collector_->record_outage(last_beat_ns_);
    collector_->finish(options_.same_boot);
  } else if (options_.outage) {
    record_outage_without_arena();
  }
  if (Status closed = spool_->close(); !closed) return closed;
  if (arena_) ::unlink(arena_->path().c_str());
  return {};
}

}  // namespace mlrun::collect
