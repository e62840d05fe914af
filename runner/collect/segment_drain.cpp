// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/segment_drain.h"

#include "runner/collect/shared_word.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kHolePatienceNs = 1'000'000'000;
constexpr uint64_t kParkNs = 10'000'000'000;

constexpr uint8_t lap_of(uint32_t owner_word) { return static_cast<uint8_t>(owner_word >> 24); }

// The offset up to which an earlier collector drained this lap.
uint32_t drained_offset(uint32_t drained_word, uint8_t lap) {
  const uint32_t offset = drained_word & 0x00ffffff;
  const bool sane = lap_of(drained_word) == lap && offset >= MLRUN_SEGMENT_HEADER_BYTES &&
                    offset <= MLRUN_SEGMENT_BYTES && offset % MLRUN_UNIT_BYTES == 0;
  return sane ? offset : uint32_t{MLRUN_SEGMENT_HEADER_BYTES};
}

}  // namespace

SegmentDrain::SegmentDrain(const Arena& arena, SegmentPool& pool, Spool& spool, ChannelClock clock)
    : arena_(arena), pool_(pool), spool_(spool), clock_(clock), states_(arena.layout().segment_count) {}

void SegmentDrain::note_free(uint32_t index) {
  State& state = states_[index];
  if (state.owner_word == 0) return;
  if (state.parked_until_ns != 0) parked_--;
  state = State{};
}

uint64_t SegmentDrain::note_owner(uint32_t index, uint32_t owner_word, uint32_t channel_id, const Pass& pass) {
  State& state = states_[index];
  if (state.owner_word != owner_word) {
    note_free(index);
    state.owner_word = owner_word;
    state.offset = drained_offset(load(arena_.drained(index)), lap_of(owner_word));
    state.progress_ns = state.scanned_ns = pass.now_ns;
    state.progress_clock = pass.clock_before;
  }
  if (state.header_clock == 0) {
    const mlrun_segment& header = arena_.segment_header(index);
    const bool written = load(header.lap) == lap_of(owner_word) && load(header.channel) == channel_id;
    if (written) state.header_clock = load(header.clock);
  }
  return state.header_clock;
}

void SegmentDrain::record_gap(Channel& channel, const Pass& pass, mlrun_gap_reason reason, uint64_t since_ns,
                              uint64_t bytes) {
  const mlrun_frame_gap gap{static_cast<__u32>(reason), 0, since_ns, pass.now_ns, bytes};
  const mlrun_frame frame = channel.next_frame(MLRUN_FRAME_GAP, pass.clock_before, pass.clock);
  spool_.put_report(frame, &gap, sizeof gap);
  channel.frame_was_put(frame);
}

void SegmentDrain::advance(uint32_t index, uint32_t offset) {
  State& state = states_[index];
  state.offset = offset;
  store(arena_.drained(index), uint32_t{lap_of(state.owner_word)} << 24 | offset);
}

// Recovery depends on this order (recovery.h): frame, drained offset, sequence number.
bool SegmentDrain::put(uint32_t index, Channel& channel, const Pass& pass, const Walk& walk, bool after_hole) {
  State& state = states_[index];
  const uint64_t first = after_hole ? state.progress_clock : pass.clock_before;
  mlrun_frame frame = channel.next_frame(MLRUN_FRAME_DATA, first, clock_.now());
  frame.lap = lap_of(state.owner_word);
  frame.spare = uint64_t{index} << 32 | walk.end;
  if (!spool_.put_data(frame, arena_.segment(index) + state.offset, walk.end - state.offset)) return false;
  if (spool_.sink()) store(arena_.control().added_up, static_cast<uint32_t>(spool_.sink()->records()));
  advance(index, walk.end);
  channel.frame_was_put(frame);
  channel.has_new_data = true;
  statistics_.records += walk.records;
  statistics_.calls += walk.calls;
  statistics_.allocs += walk.allocs;
  return true;
}

// Skips what is unfinished at the offset; the caller has waited long enough for it, or nothing will finish it. True: skipped.
bool SegmentDrain::look_behind_hole(uint32_t index, Channel& channel, const Pass& pass) {
  State& state = states_[index];
  const uint32_t next = next_tagged_unit(arena_.segment(index), state.offset, lap_of(state.owner_word));
  state.scanned_ns = pass.now_ns;
  const bool nothing_behind = next == MLRUN_SEGMENT_BYTES;
  if (nothing_behind && (channel.dead || pass.last)) {  // not a hole: here the thread stopped writing
    advance(index, next);
    return true;
  }
  // A signal handler has claimed the segment as a spare; the thread will use it later.
  if (nothing_behind && state.offset == MLRUN_SEGMENT_HEADER_BYTES) return false;
  record_gap(channel, pass, MLRUN_GAP_TORN, state.progress_ns, next - state.offset);
  statistics_.holes++;
  statistics_.hole_bytes += next - state.offset;
  advance(index, next);
  state.holed = true;
  return true;
}

SegmentDrain::Step SegmentDrain::step(uint32_t index, Channel& channel, const Pass& pass, bool closed,
                                      bool after_hole) {
  State& state = states_[index];
  const Walk walk = walk_records(arena_.segment(index), state.offset, lap_of(state.owner_word));
  if (walk.end != state.offset) {
    if (!put(index, channel, pass, walk, after_hole)) return Step::kRefused;
    state.progress_ns = pass.now_ns;
    if (!after_hole) state.progress_clock = pass.clock;
  }
  if (walk.corrupt) {
    record_gap(channel, pass, MLRUN_GAP_CORRUPT, state.progress_ns, MLRUN_SEGMENT_BYTES - state.offset);
    statistics_.corrupt_segments++;
    state.holed = true;
  }
  if (walk.closed || walk.corrupt) advance(index, MLRUN_SEGMENT_BYTES);
  if (state.offset == MLRUN_SEGMENT_BYTES) return Step::kEnd;
  const uint64_t still_since_ns = std::max(state.progress_ns, state.scanned_ns);
  if (!closed || (!channel.dead && !pass.last && pass.now_ns - still_since_ns < kHolePatienceNs)) return Step::kWait;
  if (!look_behind_hole(index, channel, pass)) return Step::kWait;
  return state.offset == MLRUN_SEGMENT_BYTES ? Step::kEnd : Step::kSkippedHole;
}

void SegmentDrain::drain(uint32_t index, Channel* channel, const Pass& pass) {
  State& state = states_[index];
  if (channel == nullptr) {
    if (pass.now_ns - state.progress_ns < kParkNs && !pass.last) return;
    statistics_.corrupt_segments++;
    release(index);
    return;
  }
  channel->segments++;
  // The thread began this segment after the pass began. The pass may have missed an older segment of the same thread,
  // claimed at an index that was already listed. The next pass sees both, so records stay in order.
  const bool too_young = state.header_clock == 0 || state.header_clock > pass.clock;
  if (too_young && !channel->dead && !pass.last) return;
  if (state.parked_until_ns == 0 && state.offset < MLRUN_SEGMENT_BYTES) {
    const bool closed =
        channel->dead || pass.last || (state.header_clock != 0 && state.header_clock < channel->newest_clock);
    Step result = step(index, *channel, pass, closed, false);
    while (result == Step::kSkippedHole) result = step(index, *channel, pass, closed, true);
    if (result == Step::kRefused || result == Step::kWait) return;
  }
  finish_segment(index, *channel, pass);
}

// Parks or frees a segment whose records are all drained.
void SegmentDrain::finish_segment(uint32_t index, Channel& channel, const Pass& pass) {
  State& state = states_[index];
  if (pass.last && !channel.dead) return;  // the arena is removed with the session
  const bool may_be_written = state.holed && !channel.dead;
  if (may_be_written && state.parked_until_ns == 0 && parked_ < arena_.layout().segment_count / 4) {
    state.parked_until_ns = pass.now_ns + kParkNs;
    parked_++;
    statistics_.parked++;
  }
  if (may_be_written && state.parked_until_ns > pass.now_ns) return;
  channel.segments--;
  release(index);
}

void SegmentDrain::release(uint32_t index) {
  const uint32_t owner_word = states_[index].owner_word;
  note_free(index);
  pool_.release(index, owner_word);
}

}  // namespace mlrun::collect
