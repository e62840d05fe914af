// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/table_files.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/trace/merge/kept_files.h"
#include "runner/util/prefetch.h"
#include "runner/util/radix_sort.h"

namespace mlrun::trace {

namespace {

constexpr size_t kRowsOfKindAhead = 24, kBatchRows = 128;

// Bytes of the texts that a row stores itself, which limit the size of a row group.
template <typename Row>
int64_t text_bytes(const Row&) {
  return 0;
}
int64_t text_bytes(const model::MarkRow& row) {
  return static_cast<int64_t>(row.domain.size() + row.name.size() + row.value.size());
}
int64_t text_bytes(const model::GpuWorkRow& row) { return static_cast<int64_t>(row.func.size()); }

// End time of a row. A free is ordered by its start (ref.time_ns), because the block is released then.
template <typename Row>
int64_t end_of(const RowRef& ref, const Row&) {
  return ref.time_ns;
}
int64_t end_of(const RowRef& ref, const model::AllocRow& row) {
  return std::max(ref.time_ns, row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0));
}

// Adapter for a table that adds one row at a time.
template <typename Table>
auto one_by_one(Table& table) {
  using Row = typename Table::Row;
  return [&table](std::span<const Row* const> rows, const GroupEnds& ends) {
    for (const Row* row : rows) table.add(*row, ends);
  };
}

}  // namespace

// Calls `add` with the rows of group_, in batches that stay in the CPU cache while each column reads them.
template <typename RowVector, typename Add>
void TableFileWriter::add_group(const RowVector& rows, Add add) {
  using Row = typename RowVector::value_type;
  std::array<const Row*, kBatchRows> batch;
  for (size_t at = 0; at < group_.size();) {
    size_t count = 0;
    for (; count < batch.size() && at < group_.size(); ++count, ++at) {
      batch[count] = &rows[group_[at].index];
      util::prefetch_whole(*batch[count]);
    }
    add(std::span<const Row* const>(batch.data(), count));
  }
}

// Fills group_ with the rows of one row group after another, sorted by start, and calls `visit` with the earliest and
// latest end of the group. A group also ends when its texts exceed kRowGroupTextBytes.
template <typename RowVector, typename Visit>
Status TableFileWriter::for_each_group(const RowVector& rows, size_t count, const SliceRows& slice_rows, RowKind kind,
                                       Visit visit) {
  const size_t groups = (count + tables::kRowGroupRows - 1) / tables::kRowGroupRows;
  const size_t rows_per_group = groups == 0 ? 0 : (count + groups - 1) / groups;
  group_.clear();
  size_t left = count;
  int64_t group_bytes = 0;
  GroupEnds ends;
  for (size_t at = 0; at < slice_rows.order.size(); ++at) {
    const RowRef& ref = slice_rows.order[at];
    if (at + kRowsOfKindAhead < slice_rows.order.size() && slice_rows.order[at + kRowsOfKindAhead].kind == kind) {
      util::prefetch(&rows[slice_rows.order[at + kRowsOfKindAhead].index].origin.ts_ns);
    }
    if (ref.kind != kind) continue;
    const int64_t end_ns = end_of(ref, rows[ref.index]);
    if (group_.empty()) ends = {end_ns, end_ns};
    ends.min_ns = std::min(ends.min_ns, end_ns);
    ends.max_ns = std::max(ends.max_ns, end_ns);
    group_.push_back({rows[ref.index].origin.ts_ns, ref.index, kind});
    --left;
    group_bytes += text_bytes(rows[ref.index]);
    if (group_.size() < rows_per_group && group_bytes < tables::kRowGroupTextBytes && left != 0) continue;
    util::sort_nearly_sorted(group_, spare_);
    if (Status visited = visit(ends); !visited) return visited;
    group_.clear();
    group_bytes = 0;
  }
  return {};
}

template <typename Table, typename RowVector, typename Add>
Status TableFileWriter::write_table(Table& table, const RowVector& rows, size_t count, const SliceRows& slice_rows,
                                    RowKind kind, size_t number, Add add) {
  if (count == 0 && number != 0) return {};
  tables::ParquetTable& parquet = table.parquet();
  if (auto opened = parquet.open(table_file_path(folder_, parquet.name(), number)); !opened) return opened;
  const auto write = [&](const GroupEnds& ends) {
    add_group(rows, [&](auto batch) { add(batch, ends); });
    return parquet.end_row_group();
  };
  if (Status written = for_each_group(rows, count, slice_rows, kind, write); !written) return written;
  if (auto closed = parquet.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status TableFileWriter::write_gpu(const SliceRows& slice_rows, size_t number) {
  Status status;
  const auto write = [&](auto& table, model::GpuKind kind) {
    if (!status) return;
    status = write_table(table, slice_rows.gpu, slice_rows.gpu_rows[static_cast<size_t>(kind)], slice_rows,
                         row_kind(kind), number, one_by_one(table));
  };
  write(gpu_api_, model::GpuKind::kApi);
  write(gpu_kernels_, model::GpuKind::kKernel);
  write(gpu_memcpys_, model::GpuKind::kMemcpy);
  write(gpu_memsets_, model::GpuKind::kMemset);
  write(gpu_syncs_, model::GpuKind::kSync);
  write(gpu_memories_, model::GpuKind::kMemory);
  write(gpu_graphs_, model::GpuKind::kGraph);
  return status;
}

std::vector<std::string> TableFileWriter::tables(bool has_gpu) {
  std::vector<std::string> tables = {"call", "alloc", "alloc_small", "mark"};
  if (has_gpu)
    tables.insert(tables.end(),
                  {"gpu_api", "gpu_kernel", "gpu_memcpy", "gpu_memset", "gpu_sync", "gpu_memory", "gpu_graph"});
  return tables;
}

void TableFileWriter::pass(const SliceRows& slice_rows, int64_t first_call_id) {
  if (join_ == nullptr) return;
  const auto join_rows = [&](std::span<const model::CallRow* const> rows) {
    for (const model::CallRow* row : rows) join_->call(*row, first_call_id++);
  };
  const auto join_group = [&](const GroupEnds&) -> Status {
    add_group(slice_rows.calls, join_rows);
    return {};
  };
  const size_t count = slice_rows.calls.size() - slice_rows.folded_calls;
  static_cast<void>(for_each_group(slice_rows.calls, count, slice_rows, RowKind::kCall, join_group));
}

Status TableFileWriter::write(const SliceRows& slice_rows, size_t number, int64_t first_call_id) {
  std::vector<std::optional<ReadPages>> pages;
  const auto add_calls = [&](std::span<const model::CallRow* const> rows, const GroupEnds& ends) {
    calls_.set(ends);
    pages.clear();
    for (size_t i = 0; join_ != nullptr && i < rows.size(); ++i) {
      pages.push_back(join_->call(*rows[i], first_call_id + static_cast<int64_t>(i)));
    }
    calls_.add(rows, first_call_id, pages);
    first_call_id += static_cast<int64_t>(rows.size());
  };
  auto calls = write_table(calls_, slice_rows.calls, slice_rows.calls.size() - slice_rows.folded_calls, slice_rows,
                           RowKind::kCall, number, add_calls);
  if (!calls) return calls;
  auto allocs = write_table(allocs_, slice_rows.allocs, slice_rows.allocs.size(), slice_rows, RowKind::kAlloc, number,
                            [&](std::span<const model::AllocRow* const> rows, const GroupEnds& ends) {
                              allocs_.set(ends);
                              allocs_.add(rows);
                            });
  if (!allocs) return allocs;
  if (!slice_rows.marks.empty()) {
    auto marks = write_table(marks_, slice_rows.marks, slice_rows.marks.size(), slice_rows, RowKind::kMark, number,
                             one_by_one(marks_));
    if (!marks) return marks;
  }
  if (has_gpu_) {
    if (auto gpu = write_gpu(slice_rows, number); !gpu) return gpu;
  }
  return write_table(alloc_small_, slice_rows.alloc_small, slice_rows.alloc_small.size(), slice_rows,
                     RowKind::kCounters, number, one_by_one(alloc_small_));
}

}  // namespace mlrun::trace
