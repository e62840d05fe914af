// SPDX-License-Identifier: Apache-2.0
// Writes frames to the spool file in large writes, by way of the staging ring in the arena file. File byte i is at
// offset i in the ring, modulo the ring's size.
//
//   file:  |--- written ---|tail ....... head|          tail is a multiple of the page, head of the frame alignment
//   ring:                  |... copied, crc .|
//
// `head` and `tail` are stored in the control page after the data they cover, so recovery finds every frame complete.
// One thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/collect/event_sink.h"
#include "runner/collect/spool_file.h"
#include "runner/collect/spool_window.h"
#include "runner/events/spool.h"

namespace mlrun::collect {

class Spool {
 public:
  struct Ring {
    char* bytes;  // MLRUN_STAGE_BYTES, mapped twice in a row
    __u64* shared_head;
    __u64* shared_tail;
  };

  struct Position {
    uint64_t head = 0, tail = 0;
    uint64_t collector_seq = 0;  // number of channel 0's next frame
  };

  // Resumes at `position`. Requires: tail <= head <= tail + MLRUN_STAGE_BYTES, tail a multiple of the page; ring bytes
  // from tail to head are frames.
  Spool(Ring ring, SpoolFile file, uint64_t max_bytes, Position position);

  // Keeps only the newest events (--last); frees the oldest at the limit. Requires: no frame was put yet.
  void keep_newest(std::unique_ptr<SpoolWindow> window) { window_ = std::move(window); }

  // Sends frames to `sink`; only those that it passes on go into the spool. Requires: no frame was put yet.
  void give_events_to(std::unique_ptr<EventSink> sink) { sink_ = std::move(sink); }
  [[nodiscard]] EventSink* sink() const { return sink_.get(); }  // null: events are kept

  // Frees stretches that are too old.
  void free_old(uint64_t now_ns) { free_old(now_ns, 0); }

  // Copies the frame; magic, version, payload_bytes and crc32c are filled in, and seq where the channel is 0. False:
  // refused, because the spool has reached its limit or the disk is full; then all later data and rows are refused too.
  // Requires: bytes <= kPayloadMax.
  [[nodiscard]] bool put_data(const mlrun_frame& header, const void* payload, uint32_t bytes);

  // Like put_data, for all other frames: they may exceed the limit and use the space that put_data leaves free in the
  // ring. A frame that does not fit into the ring is counted as left out.
  void put_report(const mlrun_frame& header, const void* payload, uint32_t bytes);

  // Like put_report, for rows of a sampler. They become more with time, so they are refused like data.
  void put_rows(const mlrun_frame& header, const void* payload, uint32_t bytes);

  // Writes the staged complete pages.
  void flush_pages();

  // Writes all frames and truncates the file to its length. On failure the ring keeps the unwritten frames.
  Status close();

  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] uint64_t bytes() const { return head_; }
  [[nodiscard]] uint64_t staged_bytes() const { return head_ - tail_; }
  [[nodiscard]] uint64_t frames() const { return frames_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  // Why the spool is full: errno of the first failed write; 0: the limit was reached.
  [[nodiscard]] int stop_error() const { return stop_error_; }
  [[nodiscard]] bool direct() const { return file_.direct(); }
  [[nodiscard]] const SpoolWindow* window() const { return window_.get(); }  // null: everything is kept

  static constexpr uint32_t kPayloadMax = 512 << 10;

 private:
  bool make_room(uint64_t frame_bytes, uint64_t reserve_bytes);
  bool keep_data(const mlrun_frame& header, const void* payload, uint32_t bytes);
  void append(mlrun_frame header, const void* payload, uint32_t bytes);
  void begin_chunk();
  void stop(int error);
  void free_old(uint64_t now_ns, uint64_t needed_bytes);
  [[nodiscard]] uint64_t missing_bytes(uint64_t frame_bytes) const;
  [[nodiscard]] char* at(uint64_t offset) const { return ring_.bytes + offset % MLRUN_STAGE_BYTES; }

  Ring ring_;
  SpoolFile file_;
  std::unique_ptr<SpoolWindow> window_;
  std::unique_ptr<EventSink> sink_;
  std::vector<char> left_over_;
  uint64_t max_bytes_;
  uint64_t head_;
  uint64_t tail_;
  uint64_t collector_seq_;
  uint64_t frames_ = 0;
  uint64_t left_out_ = 0;
  int error_ = 0;  // of the last write
  int stop_error_ = 0;
  bool full_ = false;
};

}  // namespace mlrun::collect
