// SPDX-License-Identifier: Apache-2.0
// Accumulates the summary from the rows of the whole trace: one thread, in order of end time.
//
//   Builder builder({.start_ns = …, .phases = …});
//   for each row: builder.add(row);
//   Summary summary = builder.finish(info);   // once
//   complete(info, summary);                  // roles and phase figures into the small tables
//
// Costs tens of nanoseconds a row and a bounded amount of memory (runner/summary/README.md has both).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runner/model/gpu_file.h"
#include "runner/model/rows.h"
#include "runner/model/torch_memory.h"
#include "runner/model/trace_info.h"
#include "runner/summary/meters/phase_meter.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

struct BuilderOptions {
  int64_t start_ns = 0;            // start of the run and of time lines; 0: that of the first row
  int64_t alloc_min_bytes = 1024;  // allocations below it are counted, not listed
  int64_t alloc_sample_bytes = 0;  // allocations are sampled, one per so many bytes; 0: no sampling
  bool has_page_cache = false;     // page cache misses are added: add_misses()
  std::vector<model::PhaseRow>
      phases;  // names and times, in any order; they may overlap. A phase has the calls that end in
               // [start_ns, end_ns) in its process and that process's descendants; proc_id 0: in all
  std::vector<TimeWindow> undecided;        // each contains a phase's bound, given by settle_phases()
  const model::FileTable* files = nullptr;  // all files, for renames; null: names do not change
};

class Builder {
 public:
  explicit Builder(BuilderOptions options = {});
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  void add(const model::CallRow& row);
  // The split of a kernel operation on a file outside of calls that ended at end_ns.
  void add_operation(SplitKind kind, int32_t proc_id, int64_t file_id, int64_t end_ns, const model::CallSplit& split);
  // Operations that represent unrecorded calls: what they add to the figures of their process and file.
  void add_operation(int32_t proc_id, int64_t file_id, int64_t end_ns, const Totals& totals);
  // Pages of 4 KiB that a read of that file, by a call or an operation outside of calls, missed in the page cache.
  void add_misses(int64_t file_id, int64_t missing_pages, int64_t ahead_pages);
  // A call of libcufile. `posix_is_counted`: its reads and writes were added as calls, or as operations for them.
  void add(const model::GpuFileRow& row, bool posix_is_counted);
  // PyTorch's allocations and releases, in the order of time; completes the row.
  void add(model::TorchMemoryRow& row);
  void add(const model::AllocRow& row);
  void add(const model::AllocSmallRow& row);

  // Input of --summary-only instead of rows: sums of calls; a process's calls on files in the stretch of phases that
  // contains `moment_ns`; counted events; the heap of one image; the time line, before any row.
  void add(const model::SumRow& sum);
  void add_stretch(int32_t proc_id, int64_t moment_ns, const Totals& totals);
  void add_counted(int64_t mallocs, int64_t frees);
  void add_heap(int32_t proc_id, const HeapSum& heap);
  void set_timeline(int64_t start_ns, int64_t bin_ns, std::vector<TimeBin> bins);

  // Prefetch steps for rows that will be added, since their data is scattered in memory. To be called in this order,
  // each some rows before the next; optional.
  enum class Step : uint8_t { kSlots, kEntries, kContents };
  void prefetch(const model::CallRow& row, Step step) const;
  void prefetch(const model::AllocRow& row, Step step) const;

  // The phases of the options with their final bounds, within the undecided windows. To be called after all rows.
  void settle_phases(std::vector<model::PhaseRow> phases);

  // Requires: all rows were added. Joins names, roles and paths from `info`. The phases are those of the options.
  [[nodiscard]] Summary finish(const model::TraceInfo& info);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Copies results of the summary into rows of the small tables: ProcessRow::role, and the phases with their figures.
void complete(model::TraceInfo& info, const Summary& summary);

}  // namespace mlrun::summary
