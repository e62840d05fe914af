// SPDX-License-Identifier: Apache-2.0
// Joins memory accesses with the heap blocks at their addresses, and adds them up by allocation site. Accesses and
// allocations come in order of time. A row is finished 2 s later: the allocation calls during which the access happened
// have ended by then, unless they take longer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
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
  int64_t begin_ns = 0, end_ns = 0;  // of the call
  uint64_t address = 0, bytes = 0, old_address = 0;
  AllocSite site;
  [[nodiscard]] int64_t moment_ns() const { return is_free ? begin_ns : end_ns; }
};

// An interval in which recording was paused (`mlrun pause`) or had stopped: blocks were allocated and freed without rows.
struct RecordingPause {
  int64_t begin_ns = 0, end_ns = 0;
};

// A method of --access that the run used.
struct JoinedRung {
  uint16_t number = 0;  // enum mlrun_access_rung
  double on_share = 1;  // of the time in which its events were switched on
};

// Ranges of addresses that neither overlap nor touch: the end of each by its start.
using AddressRanges = std::map<uint64_t, uint64_t>;
// Returns whether `ranges` has grown.
bool add_range(AddressRanges& ranges, uint64_t start, uint64_t end);

// The addresses that the rows of each process are about, by proc_id. A forked child has the blocks of its parent at these alone: a
// program with many blocks may fork often.
using SampledMemory = std::unordered_map<int32_t, AddressRanges>;
void note_sampled(SampledMemory& memory, const AccessRow& row);

class AccessJoin {
 public:
  // Requires: `info` outlives this. `alloc_min_bytes`: --alloc-min. `pauses`: blocks end where one begins, and rows about time inside one are not
  // joined. `sampled`: of all rows of forked processes. `done` receives each finished row.
  AccessJoin(const model::TraceInfo& info, int64_t alloc_min_bytes, std::vector<JoinedRung> rungs,
             std::vector<RecordingPause> pauses, const SampledMemory& sampled,
             std::function<void(const AccessRow&)> done);

  // Requires: calls of both are in one order of time: of a block event by moment_ns(), of a row by its end.
  void add(const AllocEvent& event);
  void add(const AccessRow& row);
  // Ends all live blocks and finishes all rows. `end_ns`: time of the last event or row.
  void finish(int64_t end_ns);

  // A row for each site and rung, also for sites without any access. Blocks that a child has inherited and not accessed are in none.
  [[nodiscard]] std::vector<AccessSiteRow> sites() const;

 private:
  struct Process {
    LiveBlocks blocks;
    int64_t last_ns = 0;                                     // time of the process's last event or row
    int64_t ended_ns = std::numeric_limits<int64_t>::max();  // its end, if that was recorded
    bool lists_all = false;     // its allocator reports no sizes, so blocks of any size have rows
    std::deque<uint64_t> open;  // numbers of rows without a block, whose allocation call may not have ended yet
  };
  // The moment when a process begins by a fork, is replaced by exec, or has no further rows, or when a pause begins (for all processes).
  enum class TurnKind { kFork, kExec, kEnd, kPause };
  struct Turn {
    int64_t at_ns;
    int32_t proc_id;
    TurnKind kind;
    auto operator<=>(const Turn&) const = default;
  };
  struct Site {
    AllocSite site;
    std::vector<AccessSiteRow> by_rung;  // in the order of rungs_
  };

  void find_inherited(const SampledMemory& sampled);
  Process& process(int32_t proc_id);
  // Begins processes that were forked, and ends blocks of processes that ended or were replaced by exec, up to this time.
  void reach(int64_t moment_ns);
  void close_all(Process& here, int64_t end_ns);
  [[nodiscard]] bool is_in_pause(int64_t begin_ns, int64_t end_ns) const;
  size_t site_number(const AllocSite& site);
  AccessSiteRow* sums(size_t site, uint16_t rung);
  void close(LiveBlock& block, int64_t end_ns);
  bool has_row_of_its_end(Process& here, const AllocEvent& event) const;
  void take(AccessRow& row, Process& here, int64_t end_ns);
  void take_open(Process& here, LiveBlock& block);
  void take_block(AccessRow& row, LiveBlock& block);
  void take_range(AccessRow& row, int64_t end_ns, LiveBlocks& blocks);
  void finish_rows(int64_t before_ns);
  AccessRow& row(uint64_t number) { return rows_[number - first_row_]; }

  uint64_t alloc_min_bytes_;
  std::vector<JoinedRung> rungs_;
  std::vector<RecordingPause> pauses_;
  std::function<void(const AccessRow&)> done_;
  std::unordered_map<int32_t, const model::ProcessRow*> rows_by_id_;
  std::vector<Turn> turns_;  // the latest first
  SampledMemory inherited_;  // of a forked process and of those that it has forked
  std::unordered_map<int32_t, Process> processes_;
  std::map<AllocSite, size_t> numbers_;
  std::vector<Site> sites_;
  std::deque<AccessRow> rows_;
  uint64_t first_row_ = 0;  // number of the first of rows_
};

}  // namespace mlrun::trace
