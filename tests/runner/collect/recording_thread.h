// SPDX-License-Identifier: Apache-2.0
// A recording thread that implements the contract by hand (runner/events/arena.h): claims a descriptor and segments,
// writes records, leaves holes, dies. Each record of record() is 32 bytes long and carries a number.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/collect/mapped_arena.h"

namespace mlrun::collect::testing {

class RecordingThread {
 public:
  struct Who {
    uint32_t pid = 1, tid = 1, process = 1;
  };
  explicit RecordingThread(const Arena& arena) : RecordingThread(arena, Who{}) {}
  RecordingThread(const Arena& arena, Who who);

  // False: the pool is empty; nothing was written.
  bool record(uint64_t number);

  // Reserves like record(); the record stays unfinished until finish() stores its first word. Null: the pool is empty.
  uint64_t* reserve(uint32_t bytes);
  void finish(uint64_t* words, uint32_t bytes, uint64_t number);

  // Closes the segment with a pad and continues in a new one. False: there is none.
  bool change_segment();

  // Claims a segment and lays it aside with its header written, as an interrupted thread may.
  std::optional<uint32_t> claim_spare();

  // What the kernel does when the thread has ended.
  void die();

  mlrun_channel& descriptor() { return *descriptor_; }
  [[nodiscard]] uint32_t segment() const { return segment_; }
  [[nodiscard]] uint32_t offset() const { return offset_; }
  [[nodiscard]] uint64_t serial() const { return serial_; }

 private:
  void claim_descriptor();
  void make_descriptor_segment();
  std::optional<uint32_t> claim_segment(uint32_t owner);
  void write_header(uint32_t index);

  const Arena& arena_;
  mlrun_channel* descriptor_ = nullptr;
  uint64_t serial_ = 0;
  uint32_t id_ = 0;
  uint32_t segment_ = 0;
  uint32_t offset_ = MLRUN_SEGMENT_BYTES;  // no segment yet
  uint8_t lap_ = 0;
};

}  // namespace mlrun::collect::testing
