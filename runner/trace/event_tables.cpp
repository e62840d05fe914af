// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/event_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/events/func_names.h"
#include "runner/trace/radix_sort.h"

namespace mlrun::trace {

namespace {

constexpr size_t kFuncs = 256;  // numbers beyond share the last name
constexpr size_t kRowsAhead = 12;

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
      via_(table_.label("via", via_names())),
      served_calls_(table_.int32("served_calls")),
      stack_id_(table_.optional_int32("stack_id")) {
  if (has_kernel_side) {
    kernel_.emplace(table_);
  } else {
    for (const char* column : {"own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "device_shared_ns", "remote_ns",
                               "wait_ns", "miss_pages", "ra_pages"}) {
      table_.empty_int64(column);
    }
  }
}

void CallTable::add(const model::CallRow& row, int64_t call_id, const std::optional<ReadPages>& pages) {
  call_id_.add(call_id);
  origin_.add(row.origin);
  dur_.add(row.dur_ns);
  func_.add(std::min<size_t>(row.func, kFuncs - 1));
  fd_.add_unless(-1, row.fd);
  file_id_.add_unless(0, row.file_id);
  file2_id_.add_unless(0, row.file2_id);
  ofd_id_.add_unless(0, row.ofd_id);
  offset_.add_unless(-1, row.offset);
  offset_source_.add(static_cast<size_t>(row.offset_source));
  requested_.add_unless(-1, row.requested);
  ret_.add(row.ret);
  err_.add(row.err);
  flags_.add(row.flags);
  arg2_.add(row.arg2);
  via_.add(static_cast<size_t>(row.via));
  served_calls_.add(row.served_calls);
  stack_id_.add_unless(0, row.stack_id);
  if (kernel_) kernel_->add(row.split, pages);
  table_.row_added();
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

void AllocTable::add(const model::AllocRow& row) {
  origin_.add(row.origin);
  dur_.add_unless(-1, row.dur_ns);
  op_.add(static_cast<size_t>(row.op - MLRUN_MALLOC));
  addr_.add(static_cast<int64_t>(row.address));
  size_.add(row.size);
  usable_.add(row.usable);
  const bool resized = row.op == MLRUN_REALLOC || row.op == MLRUN_REALLOCARRAY;
  resized ? old_addr_.add(static_cast<int64_t>(row.old_address)) : old_addr_.add_null();
  resized ? old_usable_.add(row.old_usable) : old_usable_.add_null();
  align_.add_unless(0, row.align);
  weight_.add(row.weight);
  site_.add(static_cast<int64_t>(row.site));
  site_library_.add_unless(0, row.site_library);
  row.site_library != 0 ? site_offset_.add(row.site_offset) : site_offset_.add_null();
  stack_id_.add_unless(0, row.stack_id);
  table_.row_added();
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

template <typename Table, typename Row, typename Add>
Status PartWriter::write_table(Table& table, const std::vector<Row>& rows, size_t count, const Partition& partition,
                               RowKind kind, size_t number, Add add) {
  if (count == 0 && number != 0) return {};
  ParquetTable& parquet = table.parquet();
  const auto path = fmt::format("{}/{}/part-{:05}.parquet", folder_, parquet.name(), number);
  if (auto opened = parquet.open(path); !opened) return opened;
  const size_t groups = (count + kRowGroupRows - 1) / kRowGroupRows;
  const size_t rows_per_group = groups == 0 ? 0 : (count + groups - 1) / groups;
  group_.clear();
  size_t left = count;
  GroupEnds ends;
  for (const RowRef& ref : partition.order) {
    if (ref.kind != kind) continue;
    if (group_.empty()) ends.min_ns = ref.time_ns;
    ends.max_ns = ref.time_ns;
    group_.push_back({rows[ref.index].origin.ts_ns, ref.index, kind});
    --left;
    if (group_.size() < rows_per_group && left != 0) continue;
    sort_nearly_sorted(group_, spare_);
    table.set(ends);
    for (size_t i = 0; i < group_.size(); ++i) {
      if (i + kRowsAhead < group_.size()) partition.prefetch(group_[i + kRowsAhead]);
      add(rows[group_[i].index]);
    }
    group_.clear();
    if (auto ended = parquet.end_row_group(); !ended) return ended;
  }
  if (auto closed = parquet.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status PartWriter::write_gpu(const Partition& partition, size_t number) {
  Status status;
  const auto write = [&](auto& table, model::GpuKind kind) {
    if (!status) return;
    status = write_table(table, partition.gpu, partition.gpu_rows[static_cast<size_t>(kind)], partition, row_kind(kind),
                         number, [&](const model::GpuWorkRow& row) { table.add(row); });
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

Status PartWriter::write(const Partition& partition, size_t number, int64_t first_call_id) {
  auto calls = write_table(calls_, partition.calls, partition.calls.size() - partition.folded_calls, partition,
                           RowKind::kCall, number, [&](const model::CallRow& row) {
                             const auto pages = join_ != nullptr ? join_->call(row, first_call_id) : std::nullopt;
                             calls_.add(row, first_call_id++, pages);
                           });
  if (!calls) return calls;
  auto allocs = write_table(allocs_, partition.allocs, partition.allocs.size(), partition, RowKind::kAlloc, number,
                            [&](const model::AllocRow& row) { allocs_.add(row); });
  if (!allocs) return allocs;
  if (!partition.marks.empty()) {
    auto marks = write_table(marks_, partition.marks, partition.marks.size(), partition, RowKind::kMark, number,
                             [&](const model::MarkRow& row) { marks_.add(row); });
    if (!marks) return marks;
  }
  if (has_gpu_) {
    if (auto gpu = write_gpu(partition, number); !gpu) return gpu;
  }
  return write_table(alloc_small_, partition.alloc_small, partition.alloc_small.size(), partition, RowKind::kCounters,
                     number, [&](const model::AllocSmallRow& row) { alloc_small_.add(row); });
}

}  // namespace mlrun::trace
