// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/event_tables.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/events/func_names.h"
#include "runner/trace/kept_parts.h"
#include "runner/trace/radix_sort.h"
#include "runner/util/prefetch.h"

namespace mlrun::trace {

namespace {

constexpr size_t kFuncs = 256;  // numbers beyond share the last name
constexpr size_t kRowsAhead = 24, kBatchRows = 128;

// Names by function number; numbers of a later version stay visible.
std::vector<std::string> func_names() {
  std::vector<std::string> names;
  for (size_t number = 0; number < kFuncs; ++number) {
    const events::FuncInfo* info = events::find_func(static_cast<uint16_t>(number));
    names.push_back(info ? std::string(info->name) : fmt::format("function {}", number));
  }
  return names;
}

std::vector<std::string> alloc_names() {
  return {"malloc",         "calloc",        "realloc",  "reallocarray", "free",
          "posix_memalign", "aligned_alloc", "memalign", "valloc",       "pvalloc"};
}

std::vector<std::string> via_names() { return {"function", "syscall"}; }

std::vector<std::string> offset_source_names() { return {"none", "argument", "derived", "kernel", "unknown"}; }

// Bytes of the texts that stand in a row itself.
template <typename Row>
int64_t text_bytes(const Row&) {
  return 0;
}
int64_t text_bytes(const model::MarkRow& row) {
  return static_cast<int64_t>(row.domain.size() + row.name.size() + row.value.size());
}
int64_t text_bytes(const model::GpuWorkRow& row) { return static_cast<int64_t>(row.func.size()); }

// A free stands in the order by its beginning, when its block was given back.
template <typename Row>
int64_t end_of(const RowRef& ref, const Row&) {
  return ref.time_ns;
}
int64_t end_of(const RowRef& ref, const model::AllocRow& row) {
  return std::max(ref.time_ns, row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0));
}

// For a table that takes a row at a time.
template <typename Row, typename Table>
auto one_by_one(Table& table) {
  return [&table](std::span<const Row* const> rows) {
    for (const Row* row : rows) table.add(*row);
  };
}

}  // namespace

OriginColumns::OriginColumns(ParquetTable& table)
    : end_min(table.same_int64("end_min")),
      end_max(table.same_int64("end_max")),
      ts(table.int64("ts", Encoding::kDelta)),
      proc_id(table.int32("proc_id")),
      image_id(table.int32("image_id")),
      thread_id(table.int32("thread_id")),
      pid(table.int32("pid")),
      tid(table.int32("tid")) {}

void OriginColumns::set(const GroupEnds& ends) {
  end_min.set(ends.min_ns);
  end_max.set(ends.max_ns);
}

void OriginColumns::add(const model::Origin& origin) {
  ts.add(origin.ts_ns);
  proc_id.add(origin.proc_id);
  image_id.add(origin.image_id);
  thread_id.add(origin.thread_id);
  pid.add(origin.pid);
  tid.add(origin.tid);
}

template <typename Row>
void OriginColumns::add(std::span<const Row* const> rows) {
  const auto each = [&](auto& column, auto field) {
    column.add_each(rows.size(), [&](size_t i) { return rows[i]->origin.*field; });
  };
  each(ts, &model::Origin::ts_ns);
  each(proc_id, &model::Origin::proc_id);
  each(image_id, &model::Origin::image_id);
  each(thread_id, &model::Origin::thread_id);
  each(pid, &model::Origin::pid);
  each(tid, &model::Origin::tid);
}

CallTable::KernelColumns::KernelColumns(ParquetTable& table)
    : own(table.optional_int64("own_ns", Encoding::kSplit)),
      runq(table.optional_int64("runq_ns", Encoding::kSplit)),
      vfs(table.optional_int64("vfs_ns", Encoding::kSplit)),
      queue(table.optional_int64("queue_ns", Encoding::kSplit)),
      device(table.optional_int64("device_ns", Encoding::kSplit)),
      device_shared(table.optional_int64("device_shared_ns", Encoding::kSplit)),
      remote(table.optional_int64("remote_ns", Encoding::kSplit)),
      wait(table.optional_int64("wait_ns", Encoding::kSplit)),
      miss_pages(table.optional_int64("miss_pages")),
      ra_pages(table.optional_int64("ra_pages")) {}

void CallTable::KernelColumns::add(const model::CallSplit* split, const std::optional<ReadPages>& pages) {
  const auto put = [&](Int64Column& column, int64_t model::CallSplit::*part) {
    split != nullptr ? column.add(split->*part) : column.add_null();
  };
  put(own, &model::CallSplit::own_ns);
  put(runq, &model::CallSplit::runq_ns);
  put(vfs, &model::CallSplit::vfs_ns);
  put(queue, &model::CallSplit::queue_ns);
  put(device, &model::CallSplit::device_ns);
  put(device_shared, &model::CallSplit::device_shared_ns);
  put(remote, &model::CallSplit::remote_ns);
  put(wait, &model::CallSplit::wait_ns);
  pages ? miss_pages.add(pages->missing) : miss_pages.add_null();
  pages ? ra_pages.add(pages->ahead) : ra_pages.add_null();
}

CallTable::CallTable(bool has_kernel_side)
    : table_("call"),
      call_id_(table_.int64("call_id", Encoding::kDelta)),
      origin_(table_),
      dur_(table_.int64("dur", Encoding::kSplit)),
      func_(table_.label("func", func_names())),
      fd_(table_.optional_int32("fd")),
      file_id_(table_.optional_int64("file_id")),
      file2_id_(table_.optional_int64("file2_id")),
      ofd_id_(table_.optional_int64("ofd_id")),
      offset_(table_.optional_int64("offset", Encoding::kSplit)),
      offset_source_(table_.label("offset_source", offset_source_names())),
      requested_(table_.optional_int64("requested")),
      ret_(table_.int64("ret")),
      err_(table_.int32("err")),
      flags_(table_.int32("flags")),
      arg2_(table_.int64("arg2")),
      wanted_addr_(table_.optional_int64("wanted_addr")),
      via_(table_.label("via", via_names())),
      served_calls_(table_.int32("served_calls")),
      stack_id_(table_.optional_int32("stack_id")),
      gpu_file_id_(table_.optional_int64("gpu_file_id", Encoding::kDelta)) {
  if (has_kernel_side) {
    kernel_.emplace(table_);
  } else {
    for (const char* column : {"own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "device_shared_ns", "remote_ns",
                               "wait_ns", "miss_pages", "ra_pages"}) {
      table_.empty_int64(column);
    }
  }
}

void CallTable::add(std::span<const model::CallRow* const> rows, int64_t call_id,
                    std::span<const std::optional<ReadPages>> pages) {
  using Row = model::CallRow;
  const auto each = [&](auto& column, auto get) {
    column.add_each(rows.size(), [&](size_t i) { return get(*rows[i]); });
  };
  const auto each_unless = [&](auto none, auto& column, auto field) {
    column.add_each_if(
        rows.size(), [&](size_t i) { return rows[i]->*field != none; }, [&](size_t i) { return rows[i]->*field; });
  };
  call_id_.add_each(rows.size(), [&](size_t i) { return call_id + static_cast<int64_t>(i); });
  origin_.add(rows);
  each(dur_, [](const Row& row) { return row.dur_ns; });
  each(func_, [](const Row& row) { return std::min<size_t>(row.func, kFuncs - 1); });
  each_unless(-1, fd_, &Row::fd);
  each_unless(0, file_id_, &Row::file_id);
  each_unless(0, file2_id_, &Row::file2_id);
  each_unless(0, ofd_id_, &Row::ofd_id);
  each_unless(-1, offset_, &Row::offset);
  each(offset_source_, [](const Row& row) { return static_cast<size_t>(row.offset_source); });
  each_unless(-1, requested_, &Row::requested);
  each(ret_, [](const Row& row) { return row.ret; });
  each(err_, [](const Row& row) { return row.err; });
  each(flags_, [](const Row& row) { return row.flags; });
  each(arg2_, [](const Row& row) { return row.arg2; });
  each_unless(model::kNoAddress, wanted_addr_, &Row::wanted_addr);
  each(via_, [](const Row& row) { return static_cast<size_t>(row.via); });
  each(served_calls_, [](const Row& row) { return row.served_calls; });
  each_unless(0, stack_id_, &Row::stack_id);
  each_unless(0, gpu_file_id_, &Row::gpu_file_id);
  for (size_t i = 0; kernel_ && i < rows.size(); ++i) {
    kernel_->add(rows[i]->split, i < pages.size() ? pages[i] : std::nullopt);
  }
  table_.rows_added(rows.size());
}

AllocTable::AllocTable()
    : table_("alloc"),
      origin_(table_),
      dur_(table_.optional_int64("dur")),
      op_(table_.label("op", alloc_names())),
      addr_(table_.int64("addr", Encoding::kSplit)),
      size_(table_.int64("size")),
      usable_(table_.int64("usable")),
      old_addr_(table_.optional_int64("old_addr")),
      old_usable_(table_.optional_int64("old_usable")),
      align_(table_.optional_int64("align")),
      weight_(table_.real("weight")),
      site_(table_.int64("site")),
      site_library_(table_.optional_int64("site_library")),
      site_offset_(table_.optional_int64("site_offset")),
      stack_id_(table_.optional_int32("stack_id")) {
  table_.empty_int64("node");
}

void AllocTable::add(std::span<const model::AllocRow* const> rows) {
  using Row = model::AllocRow;
  const auto each = [&](auto& column, auto get) {
    column.add_each(rows.size(), [&](size_t i) { return get(*rows[i]); });
  };
  const auto each_if = [&](auto has, auto& column, auto get) {
    column.add_each_if(
        rows.size(), [&](size_t i) { return has(*rows[i]); }, [&](size_t i) { return get(*rows[i]); });
  };
  const auto each_unless = [&](auto none, auto& column, auto field) {
    each_if([&](const Row& row) { return row.*field != none; }, column, [&](const Row& row) { return row.*field; });
  };
  const auto is_resized = [](const Row& row) { return row.op == MLRUN_REALLOC || row.op == MLRUN_REALLOCARRAY; };
  origin_.add(rows);
  each_unless(-1, dur_, &Row::dur_ns);
  each(op_, [](const Row& row) { return static_cast<size_t>(row.op - MLRUN_MALLOC); });
  each(addr_, [](const Row& row) { return static_cast<int64_t>(row.address); });
  each(size_, [](const Row& row) { return row.size; });
  each(usable_, [](const Row& row) { return row.usable; });
  each_if(is_resized, old_addr_, [](const Row& row) { return static_cast<int64_t>(row.old_address); });
  each_if(is_resized, old_usable_, [](const Row& row) { return row.old_usable; });
  each_unless(0, align_, &Row::align);
  each(weight_, [](const Row& row) { return row.weight; });
  each(site_, [](const Row& row) { return static_cast<int64_t>(row.site); });
  each_unless(0, site_library_, &Row::site_library);
  each_if([](const Row& row) { return row.site_library != 0; }, site_offset_,
          [](const Row& row) { return row.site_offset; });
  each_unless(0, stack_id_, &Row::stack_id);
  table_.rows_added(rows.size());
}

AllocSmallTable::AllocSmallTable()
    : table_("alloc_small"),
      origin_(table_),
      class_bytes_(table_.int64("class_bytes")),
      mallocs_(table_.int64("mallocs")),
      frees_(table_.int64("frees")),
      bytes_(table_.int64("bytes")) {}

void AllocSmallTable::add(const model::AllocSmallRow& row) {
  origin_.add(row.origin);
  class_bytes_.add(row.class_bytes);
  mallocs_.add(row.mallocs);
  frees_.add(row.frees);
  bytes_.add(row.bytes);
  table_.row_added();
}

// The rows of group_, in batches that stay in the cache while one column after another takes them.
template <typename RowVector, typename Add>
void PartWriter::add_group(const RowVector& rows, Add add) {
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

// `visit` is given the ends of the group's rows, which stand in group_ by start. A group also ends when its texts have
// become many bytes.
template <typename RowVector, typename Visit>
Status PartWriter::for_each_group(const RowVector& rows, size_t count, const Partition& partition, RowKind kind,
                                  Visit visit) {
  const size_t groups = (count + kRowGroupRows - 1) / kRowGroupRows;
  const size_t rows_per_group = groups == 0 ? 0 : (count + groups - 1) / groups;
  group_.clear();
  size_t left = count;
  int64_t group_bytes = 0;
  GroupEnds ends;
  for (size_t at = 0; at < partition.order.size(); ++at) {
    const RowRef& ref = partition.order[at];
    if (at + kRowsAhead < partition.order.size() && partition.order[at + kRowsAhead].kind == kind) {
      util::prefetch(&rows[partition.order[at + kRowsAhead].index].origin.ts_ns);
    }
    if (ref.kind != kind) continue;
    const int64_t end_ns = end_of(ref, rows[ref.index]);
    if (group_.empty()) ends = {end_ns, end_ns};
    ends.min_ns = std::min(ends.min_ns, end_ns);
    ends.max_ns = std::max(ends.max_ns, end_ns);
    group_.push_back({rows[ref.index].origin.ts_ns, ref.index, kind});
    --left;
    group_bytes += text_bytes(rows[ref.index]);
    if (group_.size() < rows_per_group && group_bytes < kRowGroupTextBytes && left != 0) continue;
    sort_nearly_sorted(group_, spare_);
    if (Status visited = visit(ends); !visited) return visited;
    group_.clear();
    group_bytes = 0;
  }
  return {};
}

template <typename Table, typename RowVector, typename Add>
Status PartWriter::write_table(Table& table, const RowVector& rows, size_t count, const Partition& partition,
                               RowKind kind, size_t number, Add add) {
  if (count == 0 && number != 0) return {};
  ParquetTable& parquet = table.parquet();
  if (auto opened = parquet.open(part_path(folder_, parquet.name(), number)); !opened) return opened;
  const auto write = [&](const GroupEnds& ends) {
    table.set(ends);
    add_group(rows, add);
    return parquet.end_row_group();
  };
  if (Status written = for_each_group(rows, count, partition, kind, write); !written) return written;
  if (auto closed = parquet.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status PartWriter::write_gpu(const Partition& partition, size_t number) {
  Status status;
  const auto write = [&](auto& table, model::GpuKind kind) {
    if (!status) return;
    status = write_table(table, partition.gpu, partition.gpu_rows[static_cast<size_t>(kind)], partition, row_kind(kind),
                         number, one_by_one<model::GpuWorkRow>(table));
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

std::vector<std::string> PartWriter::tables(bool has_gpu) {
  std::vector<std::string> tables = {"call", "alloc", "alloc_small", "mark"};
  if (has_gpu)
    tables.insert(tables.end(),
                  {"gpu_api", "gpu_kernel", "gpu_memcpy", "gpu_memset", "gpu_sync", "gpu_memory", "gpu_graph"});
  return tables;
}

void PartWriter::pass(const Partition& partition, int64_t first_call_id) {
  if (join_ == nullptr) return;
  const auto tell = [&](std::span<const model::CallRow* const> rows) {
    for (const model::CallRow* row : rows) join_->call(*row, first_call_id++);
  };
  const auto tell_group = [&](const GroupEnds&) -> Status {
    add_group(partition.calls, tell);
    return {};
  };
  const size_t count = partition.calls.size() - partition.folded_calls;
  static_cast<void>(for_each_group(partition.calls, count, partition, RowKind::kCall, tell_group));
}

Status PartWriter::write(const Partition& partition, size_t number, int64_t first_call_id) {
  std::vector<std::optional<ReadPages>> pages;
  const auto add_calls = [&](std::span<const model::CallRow* const> rows) {
    pages.clear();
    for (size_t i = 0; join_ != nullptr && i < rows.size(); ++i) {
      pages.push_back(join_->call(*rows[i], first_call_id + static_cast<int64_t>(i)));
    }
    calls_.add(rows, first_call_id, pages);
    first_call_id += static_cast<int64_t>(rows.size());
  };
  auto calls = write_table(calls_, partition.calls, partition.calls.size() - partition.folded_calls, partition,
                           RowKind::kCall, number, add_calls);
  if (!calls) return calls;
  auto allocs = write_table(allocs_, partition.allocs, partition.allocs.size(), partition, RowKind::kAlloc, number,
                            [&](std::span<const model::AllocRow* const> rows) { allocs_.add(rows); });
  if (!allocs) return allocs;
  if (!partition.marks.empty()) {
    auto marks = write_table(marks_, partition.marks, partition.marks.size(), partition, RowKind::kMark, number,
                             one_by_one<model::MarkRow>(marks_));
    if (!marks) return marks;
  }
  if (has_gpu_) {
    if (auto gpu = write_gpu(partition, number); !gpu) return gpu;
  }
  return write_table(alloc_small_, partition.alloc_small, partition.alloc_small.size(), partition, RowKind::kCounters,
                     number, one_by_one<model::AllocSmallRow>(alloc_small_));
}

}  // namespace mlrun::trace
