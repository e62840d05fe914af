// SPDX-License-Identifier: Apache-2.0
// A minimal arena as producers expect it: the tests' own implementation of the contract.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <string>

#include "runner/events/arena.h"
#include "runner/events/placement.h"

namespace mlrun::preload_test {

struct ArenaOptions {
  uint32_t segments = 4096;
  bool lossless = true;
  uint64_t alloc_min_bytes = 1024;
  uint32_t streams = MLRUN_STREAM_FILES | MLRUN_STREAM_ALLOCS;
  uint32_t wait_min_ticks = 0;  // every wait leaves a record
  uint32_t abi = MLRUN_ABI;
  uint32_t clock_kind = MLRUN_CLOCK_TSC;
  uint32_t stack_depth = 0;
  const char* folder = "/dev/shm";
};

class MiniArena {
 public:
  explicit MiniArena(const ArenaOptions& options);  // throws std::system_error
  ~MiniArena();
  MiniArena(const MiniArena&) = delete;
  MiniArena& operator=(const MiniArena&) = delete;

  [[nodiscard]] mlrun_control& control() const { return *reinterpret_cast<mlrun_control*>(base_); }
  [[nodiscard]] uint32_t& owner(uint32_t segment) const {
    return reinterpret_cast<uint32_t*>(base_ + control().owner_offset)[segment];
  }
  [[nodiscard]] char* segment(uint32_t index) const {
    return base_ + control().segments_offset + uint64_t{index} * MLRUN_SEGMENT_BYTES;
  }
  // Descriptor of an owner's id; null when `id` is none.
  [[nodiscard]] mlrun_channel* channel(uint32_t id) const;
  // Value of the environment variable that names this arena.
  [[nodiscard]] std::string session() const;

  // Allocates more of the file while few segments are free, as the collector must: a target under `ulimit -f` may not.
  void extend();

 private:
  int fd_ = -1;
  std::string path_;
  char* base_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace mlrun::preload_test
