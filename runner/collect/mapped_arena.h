// SPDX-License-Identifier: Apache-2.0
// The collector's view of the arena: creates the file, or opens that of a dead mlrun, maps it, and gives access to its
// parts. The geometry is kept in private memory and never read from the control page again, since every traced process
// can write there.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runner/collect/arena_layout.h"
#include "runner/events/arena.h"
#include "runner/events/placement.h"
#include "runner/util/mapping.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

using Uuid = std::array<uint8_t, 16>;

struct ArenaOptions {
  uint32_t segment_count = 0;
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  bool lossless = false;
  uint64_t alloc_min_bytes = 1024;
  uint64_t alloc_sample_bytes = 0;
  uint32_t wait_min_ticks = 0;
  uint32_t stack_depth = 0;
  uint32_t graph_nodes_per_s = 0;
  uint32_t streams = MLRUN_STREAM_FILES | MLRUN_STREAM_ALLOCS;
  Uuid session{};
  std::string path_rules;    // runner/events/path_rules.h; at most MLRUN_RULES_BYTES
  std::string placement;     // runner/events/placement.h; at most MLRUN_PLACEMENT_BYTES
  std::string trace_folder;  // stored behind the control page's fields, where `mlrun clean` reads it
};

class Arena {
 public:
  // Makes the file (it must not exist), mode 0600. The state is "pause" until start() lets producers record.
  static Result<Arena> create(const std::string& path, const ArenaOptions& options);

  // Opens the arena of another mlrun. Fails when it is not an arena of this ABI.
  static Result<Arena> open(const std::string& path);

  [[nodiscard]] mlrun_control& control() const { return *reinterpret_cast<mlrun_control*>(memory_.data()); }
  [[nodiscard]] const ArenaLayout& layout() const { return layout_; }
  [[nodiscard]] mlrun_clock_kind clock_kind() const { return clock_kind_; }
  [[nodiscard]] Uuid session() const;
  [[nodiscard]] std::string trace_folder() const;
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] mlrun_placement& placement() const {
    return *reinterpret_cast<mlrun_placement*>(memory_.data() + MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES);
  }

  // Requires, here and below: index < layout().segment_count.
  [[nodiscard]] uint32_t& owner(uint32_t index) const { return words(layout_.owner_offset)[index]; }
  [[nodiscard]] uint32_t& drained(uint32_t index) const { return words(layout_.drained_offset)[index]; }
  [[nodiscard]] char* segment(uint32_t index) const {
    return memory_.data() + layout_.segments_offset + uint64_t{index} * MLRUN_SEGMENT_BYTES;
  }
  [[nodiscard]] mlrun_segment& segment_header(uint32_t index) const {
    return *reinterpret_cast<mlrun_segment*>(segment(index));
  }
  // Requires: 1 <= slot <= MLRUN_CHANNELS_PER_SEGMENT.
  [[nodiscard]] mlrun_channel& descriptor(uint32_t index, uint32_t slot) const {
    return *reinterpret_cast<mlrun_channel*>(segment(index) + size_t{slot} * MLRUN_CHANNEL_BYTES);
  }

  // The staging ring, mapped twice in a row: MLRUN_STAGE_BYTES from any offset below MLRUN_STAGE_BYTES are contiguous.
  [[nodiscard]] char* stage() const { return stage_.data(); }

 private:
  [[nodiscard]] uint32_t* words(uint64_t offset) const { return reinterpret_cast<uint32_t*>(memory_.data() + offset); }
  Status map(const std::string& path);
  void fill_control(const ArenaOptions& options);

  ArenaLayout layout_;
  mlrun_clock_kind clock_kind_ = MLRUN_CLOCK_TSC;
  std::string path_;
  util::UniqueFd fd_;
  util::Mapping memory_;
  util::Mapping stage_;
};

}  // namespace mlrun::collect
