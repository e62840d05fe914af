// SPDX-License-Identifier: Apache-2.0
// A spool that keeps only the newest events (--last): older events are freed during the run. The spool is divided into
// stretches; the oldest stretch is freed as a whole by punching a hole into the file.
//
//   spool.bin   | hole ........ | stretch | stretch | ... | the one being written |
//   kept.bin    names, files, stacks, processes, threads, losses of all stretches; which times were freed
//
// When kept.bin reaches half of the spool's limit, it is rewritten without the names and files that no stretch uses.
//
// One thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runner/collect/definition_use.h"
#include "runner/collect/kept_file.h"
#include "runner/events/spool.h"

namespace mlrun::collect {

struct WindowOptions {
  uint64_t last_ns = 0;
  uint64_t max_bytes = 0;  // of the spool
};

class SpoolWindow {
 public:
  SpoolWindow(KeptFile kept, const WindowOptions& options);

  // To be called when a frame was put into the spool, which then ends at `end`.
  void note(const mlrun_frame& header, const char* payload, uint64_t end, uint64_t now_ns);

  // End of the range to free; 0: nothing. `written`: length of the spool's file. `needed_bytes`: free at least this much,
  // even stretches that are not old.
  [[nodiscard]] uint64_t end_of_old(uint64_t now_ns, uint64_t written, uint64_t needed_bytes) const;

  // Notes in the kept file that all events before `end` will be freed. False: the write failed, so nothing may be
  // freed. Requires: `end` is the result of end_of_old().
  [[nodiscard]] bool note_freed(uint64_t end);

  // Writes the frames of kept.bin that are still in memory, at the end of a run.
  [[nodiscard]] bool flush() { return kept_.flush(); }

  // Number of stretches begun. When it grows, the next frames of counters, drops and excluded calls must have all values,
  // not only changed ones.
  [[nodiscard]] uint32_t stretches_begun() const { return begun_; }
  [[nodiscard]] uint64_t kept_bytes() const { return kept_.bytes(); }
  [[nodiscard]] uint64_t freed_bytes() const { return freed_end_; }
  [[nodiscard]] uint64_t freed_records() const { return freed_records_; }

 private:
  struct Stretch {
    uint64_t begin = 0, end = 0, first_ns = 0, last_ns = 0, records = 0;
  };
  void keep(const mlrun_frame& header, const char* payload);
  uint64_t keep_definitions(const mlrun_frame& header, const char* payload);
  void put_definitions(mlrun_frame header);
  void note_channel(const mlrun_frame& header, const char* payload);
  void evict_definitions();

  KeptFile kept_;
  WindowOptions options_;
  uint64_t stretch_bytes_, stretch_ns_;
  std::deque<Stretch> stretches_;
  DefinitionUse use_;
  uint64_t rewrite_bytes_;  // size of the kept file at the next rewrite
  std::vector<char> definitions_;
  uint64_t freed_end_ = 0, freed_records_ = 0, notes_ = 0;
  uint32_t begun_ = 0;
};

}  // namespace mlrun::collect
