// SPDX-License-Identifier: Apache-2.0
// A spool that keeps the newest (--last): what is older than that is freed while the run goes on. The spool is cut into
// stretches; the oldest one goes as a whole, and the file has a hole there from then on.
//
//   spool.bin   | hole ........ | stretch | stretch | ... | the one that is being written |
//   kept.bin    names, files, stacks, processes, threads, losses of all of them, and what was freed
//
// When kept.bin has grown to half of the limit it is written anew without the names and files that no stretch needs.
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

  // A frame was put into the spool, which ends at `end` now.
  void note(const mlrun_frame& header, const char* payload, uint64_t end, uint64_t now_ns);

  // End of what is to be freed; 0: nothing. `written`: how far the spool stands in its file; `needed_bytes`: room that
  // is missing, for which younger stretches go as well.
  [[nodiscard]] uint64_t end_of_old(uint64_t now_ns, uint64_t written, uint64_t needed_bytes) const;

  // Notes in the kept file that everything before `end` is going. False: that could not be written, so that it must
  // stay. Requires: `end` is what end_of_old() said.
  [[nodiscard]] bool let_go(uint64_t end);

  // The last part of a run.
  [[nodiscard]] bool flush() { return kept_.flush(); }

  // Bumped when a stretch begins: what later frames tell as a difference has to be told in full.
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
  void let_go_of_definitions();

  KeptFile kept_;
  WindowOptions options_;
  uint64_t stretch_bytes_, stretch_ns_;
  std::deque<Stretch> stretches_;
  DefinitionUse use_;
  uint64_t rewrite_bytes_;  // size of the kept file at which it is looked through next
  std::vector<char> definitions_;
  uint64_t freed_end_ = 0, freed_records_ = 0, notes_ = 0;
  uint32_t begun_ = 0;
};

}  // namespace mlrun::collect
