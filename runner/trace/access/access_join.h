// SPDX-License-Identifier: Apache-2.0
// Joins accesses with the blocks that were there, and adds them up by site. Both come in order of time; a row is finished a while later,
// when the calls during which it happened have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/access/access_row.h"
#include "runner/trace/access/live_blocks.h"

namespace mlrun::trace {

// A row of `alloc`.
struct AllocEvent {
  int32_t proc_id = 0;
  bool is_free = false;
  int64_t begin_ns = 0, end_ns = 0;  // of the call; a free counts from its beginning
  uint64_t address = 0, bytes = 0, old_address = 0;
  AllocSite site;
  [[nodiscard]] int64_t moment_ns() const { return is_free ? begin_ns : end_ns; }
};

class AccessJoin {
 public:
  // `info` outlives it. `rungs`: of the run, enum mlrun_access_rung. `done`: gets each finished row.
  AccessJoin(const model::TraceInfo& info, std::vector<uint16_t> rungs, std::function<void(const AccessRow&)> done);

  // Both in order of time, taken together: an allocation counts from its end, a free from its beginning.
  void add(const AllocEvent& event);
  void add(const AccessRow& row);
  // Call at the end.
  void finish(int64_t end_ns);

  // By site and rung; sites without any access are among them.
  [[nodiscard]] std::vector<AccessSiteRow> sites() const;
  [[nodiscard]] int64_t joined() const { return joined_; }

 private:
  struct Process {
    LiveBlocks blocks;
    int64_t last_ns = 0;        // the latest that is known of it
    std::deque<uint64_t> open;  // rows without a block that may belong to a call that has not ended, by number
  };
  struct Site {
    AllocSite site;
    std::vector<AccessSiteRow> by_rung;
  };

  Process& process(int32_t proc_id);
  // Ends the blocks of programs that were replaced by exec up to this moment.
  void reach(int64_t moment_ns);
  void close_all(Process& here, int64_t end_ns);
  size_t site_number(const AllocSite& site);
  AccessSiteRow* sums(size_t site, uint16_t rung);
  void close(LiveBlock& block, int64_t end_ns);
  void take_open(Process& here, LiveBlock& block);
  void take_block(AccessRow& row, LiveBlock& block);
  void take_range(AccessRow& row, LiveBlocks& blocks);
  void finish_rows(int64_t before_ns);
  AccessRow& row(uint64_t number) { return rows_[number - first_row_]; }

  std::vector<uint16_t> rungs_;
  std::function<void(const AccessRow&)> done_;
  std::unordered_map<int32_t, const model::ProcessRow*> rows_by_id_;
  std::vector<std::pair<int64_t, int32_t>> execs_;  // moment and process, the latest first
  std::unordered_map<int32_t, Process> processes_;
  std::map<AllocSite, size_t> numbers_;
  std::vector<Site> sites_;
  std::deque<AccessRow> rows_;
  uint64_t first_row_ = 0;  // number of the first of rows_
  int64_t joined_ = 0;
};

}  // namespace mlrun::trace
