// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/spool_writer.h"

#include <cerrno>
#include <cstring>

#include "runner/collect/shared_word.h"
#include "runner/util/clock.h"
#include "runner/util/crc32c.h"
#include "runner/util/spool_frame.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kFlushBytes = 1 << 20;
// Space in the ring that data and rows leave free for all other frames (put_report), also after the disk is full.
constexpr uint64_t kReserveBytes = 256 << 10;

}  // namespace

Spool::Spool(Ring ring, SpoolFile file, uint64_t max_bytes, Position position)
    : ring_(ring),
      file_(std::move(file)),
      max_bytes_(max_bytes),
      head_(position.head),
      tail_(position.tail),
      collector_seq_(position.collector_seq) {
  store(*ring_.shared_tail, __u64{tail_});
  store(*ring_.shared_head, __u64{head_});
}

// Space in the ring for a frame, the pad before it and an index frame in between.
bool Spool::make_room(uint64_t frame_bytes, uint64_t reserve_bytes) {
  const uint64_t needed = 2 * frame_bytes + 2 * util::frame_bytes(sizeof(mlrun_frame_index)) + reserve_bytes;
  if (staged_bytes() + needed > MLRUN_STAGE_BYTES) flush_pages();
  return staged_bytes() + needed <= MLRUN_STAGE_BYTES;
}

// Keeps the first reason: the disk may have space again later.
void Spool::stop(int error) {
  if (full_) return;
  full_ = true;
  stop_error_ = error;
}

// Bytes by which the frame would exceed the limit.
uint64_t Spool::missing_bytes(uint64_t frame_bytes) const {
  uint64_t used = head_ + frame_bytes;
  if (window_) used = used - window_->freed_bytes() + window_->kept_bytes();
  return used > max_bytes_ ? used - max_bytes_ : 0;
}

void Spool::free_old(uint64_t now_ns, uint64_t needed_bytes) {
  if (!window_ || full_) return;
  const uint64_t begin = window_->freed_bytes(), end = window_->end_of_old(now_ns, tail_, needed_bytes);
  if (end == 0) return;
  if (!window_->note_freed(end)) error_ = ENOSPC;
  if (error_ == 0) error_ = file_.free_bytes(begin, end);
  if (error_ != 0) stop(error_);
}

bool Spool::put_data(const mlrun_frame& header, const void* payload, uint32_t bytes) {
  if (!sink_) return keep_data(header, payload, bytes);
  left_over_.clear();
  sink_->take_records(header, static_cast<const char*>(payload), bytes, left_over_);
  return left_over_.empty() || keep_data(header, left_over_.data(), static_cast<uint32_t>(left_over_.size()));
}

bool Spool::keep_data(const mlrun_frame& header, const void* payload, uint32_t bytes) {
  const uint64_t frame_bytes = util::frame_bytes(bytes);
  if (const uint64_t missing = window_ ? missing_bytes(frame_bytes) : 0; missing > 0) {
    flush_pages();
    free_old(util::monotonic_ns(), missing);
  }
  if (!full_ && missing_bytes(frame_bytes) > 0) stop(0);
  if (!full_ && !make_room(frame_bytes, kReserveBytes)) stop(error_);
  if (full_) return false;
  append(header, payload, bytes);
  if (staged_bytes() >= kFlushBytes) flush_pages();
  return true;
}

void Spool::put_report(const mlrun_frame& header, const void* payload, uint32_t bytes) {
  if (sink_ && !sink_->take_report(header, static_cast<const char*>(payload), bytes)) return;
  if (!make_room(util::frame_bytes(bytes), 0)) {
    left_out_++;
    return;
  }
  append(header, payload, bytes);
}

void Spool::put_rows(const mlrun_frame& header, const void* payload, uint32_t bytes) {
  if (sink_ && !sink_->take_report(header, static_cast<const char*>(payload), bytes)) return;
  (void)keep_data(header, payload, bytes);  // the collector reports that the spool is full
}

// Requires: space for the frame, a pad of the same length and an index frame.
void Spool::append(mlrun_frame header, const void* payload, uint32_t bytes) {
  const uint64_t frame_bytes = util::frame_bytes(bytes);
  const uint64_t chunk_used = head_ % MLRUN_SPOOL_CHUNK_BYTES;
  const bool starts_chunk = header.type == MLRUN_FRAME_INDEX || header.type == MLRUN_FRAME_PAD;
  if (!starts_chunk && (chunk_used == 0 || chunk_used + frame_bytes > MLRUN_SPOOL_CHUNK_BYTES)) begin_chunk();

  header.magic = MLRUN_SPOOL_MAGIC;
  header.version = MLRUN_SPOOL_VERSION;
  header.payload_bytes = bytes;
  header.crc32c = 0;
  if (header.channel == 0) header.seq = collector_seq_++;
  char* frame = at(head_);
  std::memcpy(frame, &header, util::kFrameHeaderBytes);
  if (bytes > 0) std::memcpy(frame + util::kFrameHeaderBytes, payload, bytes);
  std::memset(frame + util::kFrameHeaderBytes + bytes, 0, frame_bytes - util::kFrameHeaderBytes - bytes);
  header.crc32c = util::crc32c(0, frame, util::kFrameHeaderBytes + bytes);
  std::memcpy(frame, &header, util::kFrameHeaderBytes);
  head_ += frame_bytes;
  frames_++;
  store(*ring_.shared_head, __u64{head_});
  if (window_) window_->note(header, frame + util::kFrameHeaderBytes, head_, util::monotonic_ns());
}

// The pad is a header and zeros up to the end of the chunk.
void Spool::begin_chunk() {
  const uint64_t chunk_used = head_ % MLRUN_SPOOL_CHUNK_BYTES;
  if (chunk_used != 0) {
    const uint64_t rest = MLRUN_SPOOL_CHUNK_BYTES - chunk_used;
    std::memset(at(head_) + util::kFrameHeaderBytes, 0, rest - util::kFrameHeaderBytes);
    mlrun_frame pad{};
    pad.type = MLRUN_FRAME_PAD;
    append(pad, nullptr, 0);
    head_ += rest - util::kFrameHeaderBytes;
    store(*ring_.shared_head, __u64{head_});
  }
  const mlrun_frame_index index{head_ / MLRUN_SPOOL_CHUNK_BYTES, util::monotonic_ns()};
  mlrun_frame header{};
  header.type = MLRUN_FRAME_INDEX;
  append(header, &index, sizeof index);
}

void Spool::flush_pages() {
  while (staged_bytes() >= SpoolFile::kPageBytes) {
    const uint64_t in_ring = tail_ % MLRUN_STAGE_BYTES;
    const uint64_t whole = staged_bytes() / SpoolFile::kPageBytes * SpoolFile::kPageBytes;
    const uint64_t bytes = std::min<uint64_t>(whole, MLRUN_STAGE_BYTES - in_ring);
    error_ = file_.write(ring_.bytes + in_ring, bytes, tail_);
    if (error_ != 0) return stop(error_);
    tail_ += bytes;
    store(*ring_.shared_tail, __u64{tail_});
  }
}

Status Spool::close() {
  flush_pages();
  if (error_ == 0 && staged_bytes() > 0) {
    char* page = at(tail_);
    std::memset(page + staged_bytes(), 0, SpoolFile::kPageBytes - staged_bytes());
    error_ = file_.write(page, SpoolFile::kPageBytes, tail_);
  }
  if (error_ == 0 && window_ && !window_->flush()) error_ = ENOSPC;
  if (error_ != 0) return fail_errno("write the spool", error_);
  if (Status saved = sink_ ? sink_->save() : Status(); !saved) return saved;
  return file_.finish(head_);
}

}  // namespace mlrun::collect
