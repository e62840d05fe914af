// SPDX-License-Identifier: Apache-2.0
// The parts of a running session: the arena (and its owner mark), the spool, the collector.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runner/collect/arena_place.h"
#include "runner/collect/collector.h"
#include "runner/collect/mapped_arena.h"
#include "runner/collect/owner_mark.h"
#include "runner/collect/spool_writer.h"

namespace mlrun::collect {

struct RecordingOptions {
  std::string trace_folder;  // absolute
  uint64_t buffer_bytes = 256 << 20;
  bool buffer_exact = false;
  std::optional<uint64_t> max_spool_bytes;  // default: half of the free space of the file system, at most 64 GiB
  bool lossless = false;
  uint64_t alloc_min_bytes = 1024;
  uint64_t alloc_sample_bytes = 0;  // 0: no sampling
  uint32_t stack_depth = 0;
  uint32_t graph_nodes_per_s = 0;
  uint32_t streams = MLRUN_STREAM_FILES | MLRUN_STREAM_ALLOCS | MLRUN_STREAM_MARKS;
  std::string path_rules;  // runner/events/path_rules.h
  std::string placement;   // runner/events/placement.h
  uint64_t last_ns = 0;    // the spool keeps the events of the last `last_ns`; 0: all events
  std::function<std::unique_ptr<EventSink>(uint64_t max_spool_bytes)> make_sink;  // for --summary-only
};

class Recording {
 public:
  // Creates the arena and the spool. On failure, removes the files that it created.
  static Result<std::unique_ptr<Recording>> create(const RecordingOptions& options);

  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] Spool& spool() { return spool_; }
  [[nodiscard]] Collector& collector() { return collector_; }
  [[nodiscard]] const ArenaPlace& place() const { return place_; }
  [[nodiscard]] uint64_t max_spool_bytes() const { return max_spool_bytes_; }

  // The value of MLRUN_SESSION.
  [[nodiscard]] std::string session_variable() const;

  // Stops recording, drains, completes the spool and removes the arena. On failure both files are kept: together they have
  // all records.
  Status finish();

  // Removes all files of the recording; for a run that recorded nothing.
  void discard();

 private:
  Recording(ArenaPlace place, Arena arena, SpoolFile file, const RecordingOptions& options, uint64_t max_spool_bytes);
  void remove_arena() const;
  Status keep_newest(uint64_t last_ns);

  ArenaPlace place_;
  std::string trace_folder_;
  uint64_t max_spool_bytes_;
  Arena arena_;
  OwnerMark owner_;
  Spool spool_;
  Collector collector_;
};

// "spool.bin", "kept.bin" and "sums.bin" of a trace folder.
std::string spool_path(const std::string& trace_folder);
std::string kept_path(const std::string& trace_folder);
std::string sums_path(const std::string& trace_folder);

}  // namespace mlrun::collect
