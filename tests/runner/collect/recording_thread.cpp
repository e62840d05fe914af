// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/collect/recording_thread.h"

#include <cstring>
#include <stdexcept>

#include "runner/collect/shared_word.h"
#include "runner/events/record.h"
#include "runner/util/clock.h"

namespace mlrun::collect::testing {

namespace {
constexpr uint32_t kRecordBytes = 32;
}

RecordingThread::RecordingThread(const Arena& arena, Who who) : arena_(arena) {
  claim_descriptor();
  descriptor_->pid = who.pid;
  descriptor_->tid = who.tid;
  descriptor_->process = who.process;
  descriptor_->image = who.process;
  serial_ = descriptor_->serial = __atomic_add_fetch(&arena_.control().next_channel, 1, __ATOMIC_RELAXED);
  descriptor_->lock = who.tid;
  store(descriptor_->state, uint32_t{MLRUN_CHANNEL_LIVE});
}

// Lowest free first.
std::optional<uint32_t> RecordingThread::claim_segment(uint32_t owner) {
  for (uint32_t i = 0; i < load(arena_.control().available_segments); i++) {
    uint32_t word = load(arena_.owner(i));
    if ((word & MLRUN_OWNER_MASK) != 0) continue;
    if (!__atomic_compare_exchange_n(&arena_.owner(i), &word, word | owner, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    add(arena_.control().free_segments_hint, ~0u);
    uint32_t high = load(arena_.control().segment_high);
    while (high <= i && !__atomic_compare_exchange_n(&arena_.control().segment_high, &high, i + 1, false,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return i;
  }
  return {};
}

void RecordingThread::make_descriptor_segment() {
  const auto index = claim_segment(MLRUN_OWNER_PREPARING);
  if (!index) throw std::runtime_error("no segment for descriptors");
  std::memset(arena_.segment(*index), 0, MLRUN_SEGMENT_BYTES);
  store(arena_.owner(*index), load(arena_.owner(*index)) | MLRUN_OWNER_DESCRIPTORS);
}

void RecordingThread::claim_descriptor() {
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < load(arena_.control().segment_high); i++) {
      if ((load(arena_.owner(i)) & MLRUN_OWNER_MASK) != MLRUN_OWNER_DESCRIPTORS) continue;
      for (uint32_t slot = 1; slot <= MLRUN_CHANNELS_PER_SEGMENT; slot++) {
        mlrun_channel& channel = arena_.descriptor(i, slot);
        uint32_t state = MLRUN_CHANNEL_FREE;
        if (!__atomic_compare_exchange_n(&channel.state, &state, uint32_t{MLRUN_CHANNEL_CLAIMED}, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
          continue;
        }
        descriptor_ = &channel;
        id_ = i * 16 + slot;
        return;
      }
    }
    make_descriptor_segment();
  }
  throw std::runtime_error("no descriptor");
}

void RecordingThread::write_header(uint32_t index) {
  mlrun_segment& header = arena_.segment_header(index);
  header.clock = util::stamp(arena_.clock_kind());
  header.monotonic_ns = util::monotonic_ns();
  header.channel = id_;
  store(header.lap, load(arena_.owner(index)) >> 24);
}

bool RecordingThread::change_segment() {
  const auto index = claim_segment(id_ + 1);
  if (!index) return false;
  if (offset_ < MLRUN_SEGMENT_BYTES) {
    auto* pad = reinterpret_cast<uint64_t*>(arena_.segment(segment_) + offset_);
    store(*pad, uint64_t{mlrun_word0(lap_, 0, MLRUN_PAD, 0)});
  }
  segment_ = *index;
  lap_ = static_cast<uint8_t>(load(arena_.owner(segment_)) >> 24);
  write_header(segment_);
  offset_ = MLRUN_SEGMENT_HEADER_BYTES;
  return true;
}

std::optional<uint32_t> RecordingThread::claim_spare() {
  const auto index = claim_segment(id_ + 1);
  if (index) write_header(*index);
  return index;
}

uint64_t* RecordingThread::reserve(uint32_t bytes) {
  if (offset_ + bytes > MLRUN_SEGMENT_BYTES && !change_segment()) return nullptr;
  auto* words = reinterpret_cast<uint64_t*>(arena_.segment(segment_) + offset_);
  offset_ += bytes;
  return words;
}

void RecordingThread::finish(uint64_t* words, uint32_t bytes, uint64_t number) {
  words[1] = util::stamp(arena_.clock_kind());
  words[2] = 0;
  words[3] = number;
  for (uint32_t i = 4; i < bytes / 8; i++) words[i] = 0;
  store(words[0], uint64_t{mlrun_word0(lap_, bytes / MLRUN_UNIT_BYTES, MLRUN_MALLOC, 0)});
}

bool RecordingThread::record(uint64_t number) {
  uint64_t* words = reserve(kRecordBytes);
  if (words == nullptr) return false;
  finish(words, kRecordBytes, number);
  return true;
}

void RecordingThread::die() { store(descriptor_->lock, uint32_t{FUTEX_OWNER_DIED}); }

}  // namespace mlrun::collect::testing
