// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/row_feed.h"

#include "runner/trace/rows/position_losses.h"

namespace mlrun::trace {

namespace {

// Prefetch distances, in rows: rows in order of time, and the counters that they update, are scattered in memory.
constexpr size_t kRowsAhead = 32, kSlotsAhead = 20, kEntriesAhead = 12, kContentsAhead = 5;

}  // namespace

RowFeed::RowFeed(SpoolIndex& index, model::TraceInfo& info, const SessionInfo& session, const Mllog& mllog,
                 KernelMerge& kernel)
    : log_writes(session.mllog, info.files),
      marks(index, info),
      gpu_join(index, marks.names(), info.gpus),
      builder({session.start_ns, session.run.options.alloc_min_bytes, session.alloc_sample_bytes,
               kernel.sees_page_cache(), mllog.phases, undecided(mllog), &info.files}),
      fold(session.fold_ns),
      gpu_figures(info),
      kernel_(kernel),
      offsets_(index.files(), position_losses(index)),
      mappings_(index.files(), info),
      counters_(index.channels()) {
  marks.add_log(info.marks);
}

Status RowFeed::load_sums(SpoolIndex& index, const std::string& path) {
  sums.emplace(index);
  if (auto read = sums->read(path); !read) return read;
  sum_table.emplace(sums->stretches());
  sums->feed(builder, counters_, log_writes);
  for (const model::SumRow& sum : sums->rows()) coverage.add(sum);
  return {};
}

void RowFeed::look_ahead(const SliceRows& slice_rows, size_t at) const {
  using Step = summary::Builder::Step;
  const auto prefetch = [&](size_t index, Step step) {
    if (index >= slice_rows.order.size()) return;
    const RowRef& ref = slice_rows.order[index];
    if (ref.kind == RowKind::kCall) builder.prefetch(slice_rows.calls[ref.index], step);
    if (ref.kind == RowKind::kAlloc) builder.prefetch(slice_rows.allocs[ref.index], step);
  };
  if (at + kRowsAhead < slice_rows.order.size()) slice_rows.prefetch(slice_rows.order[at + kRowsAhead]);
  prefetch(at + kSlotsAhead, Step::kSlots);
  prefetch(at + kEntriesAhead, Step::kEntries);
  prefetch(at + kContentsAhead, Step::kContents);
}

// First the consumers that fill columns, add or remove rows, then those that add up.
void RowFeed::add(SliceRows& slice_rows) {
  offsets_.apply(slice_rows);           // before split(), which finds the block I/O of a read by its file range
  mappings_.apply(slice_rows);          // before split(), which finds the block I/O of msync by its file
  counters_.apply(slice_rows);          // replaces total counts by the change since the record before
  gpu_join.name_threads(slice_rows);    // before marks: marks are per thread, and CUPTI reports only a tid
  marks.apply(slice_rows, mark_meter);  // adds rows; sets the marks of CUDA calls
  kernel_.split(slice_rows);
  kernel_.find_gpu_files(slice_rows);
  gpu_join.apply(slice_rows);  // after marks: GPU work gets the mark of its CUDA call; removes nested calls
  add_rows(slice_rows);
  fold.apply(slice_rows, kernel_.join());  // last: removes short calls, which all other consumers see
  if (sum_table) {                         // with --summary-only there are no event rows
    sum_table->add(slice_rows);
    slice_rows.order.clear();
    return;
  }
  totals.calls += static_cast<int64_t>(slice_rows.calls.size() - slice_rows.folded_calls);
  totals.allocs += static_cast<int64_t>(slice_rows.allocs.size());
  totals.alloc_small += static_cast<int64_t>(slice_rows.alloc_small.size());
}

// Row by row, in order of their end.
void RowFeed::add_rows(const SliceRows& slice_rows) {
  for (size_t i = 0; i < slice_rows.order.size(); ++i) {
    look_ahead(slice_rows, i);
    const RowRef& ref = slice_rows.order[i];
    switch (ref.kind) {
      case RowKind::kCall:
        coverage.add(slice_rows.calls[ref.index]);
        log_writes.add(slice_rows.calls[ref.index]);
        builder.add(slice_rows.calls[ref.index]);
        kernel_.add_misses(slice_rows.calls[ref.index], builder);
        break;
      case RowKind::kAlloc: builder.add(slice_rows.allocs[ref.index]); break;
      case RowKind::kMark: gpu_figures.add_mark(slice_rows.marks[ref.index]); break;
      case RowKind::kGpuApi:
      case RowKind::kGpuSync:
      case RowKind::kGpuMemory: gpu_figures.add(slice_rows.gpu[ref.index], marks.paths()); break;
      case RowKind::kGpuKernel:
      case RowKind::kGpuMemcpy:
      case RowKind::kGpuMemset:
      case RowKind::kGpuGraph:
        gpu_figures.add(slice_rows.gpu[ref.index], marks.paths());
        gpu_figures.add_work_between_gaps(slice_rows.gpu[ref.index]);
        break;
      case RowKind::kCounters: builder.add(slice_rows.alloc_small[ref.index]); break;
    }
  }
}

}  // namespace mlrun::trace
