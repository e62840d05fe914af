// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/event_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "runner/events/func_names.h"
#include "runner/trace/radix_sort.h"

namespace mlrun::trace {

namespace {

constexpr size_t kFuncs = 256;  // numbers beyond share the last name

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

std::vector<std::string> offset_source_names() { return {"none", "argument", "derived", "kernel", "unknown"}; }

}  // namespace

OriginColumns::OriginColumns(ParquetTable& table)
    : end_min(table.int64("end_min")),
      end_max(table.int64("end_max")),
      ts(table.int64("ts", Encoding::kDelta)),
      proc_id(table.int32("proc_id")),
      image_id(table.int32("image_id")),
      thread_id(table.int32("thread_id")),
      pid(table.int32("pid")),
      tid(table.int32("tid")) {}

void OriginColumns::add(const model::Origin& origin, const GroupEnds& ends) {
  end_min.add(ends.min_ns);
  end_max.add(ends.max_ns);
  ts.add(origin.ts_ns);
  proc_id.add(origin.proc_id);
  image_id.add(origin.image_id);
  thread_id.add(origin.thread_id);
  pid.add(origin.pid);
  tid.add(origin.tid);
}

CallTable::CallTable()
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
      served_calls_(table_.int32("served_calls")) {
  for (const char* kernel_side : {"own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "device_shared_ns",
                                  "remote_ns", "wait_ns", "miss_pages", "ra_pages"}) {
    table_.empty_int64(kernel_side);
  }
}

void CallTable::add(const model::CallRow& row, const GroupEnds& ends, int64_t call_id) {
  call_id_.add(call_id);
  origin_.add(row.origin, ends);
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
  served_calls_.add(row.served_calls);
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
      site_(table_.int64("site")),
      site_library_(table_.optional_int64("site_library")),
      site_offset_(table_.optional_int64("site_offset")) {
  for (const char* later : {"stack_id", "node"}) table_.empty_int64(later);
}

void AllocTable::add(const model::AllocRow& row, const GroupEnds& ends) {
  origin_.add(row.origin, ends);
  dur_.add_unless(-1, row.dur_ns);
  op_.add(static_cast<size_t>(row.op - MLRUN_MALLOC));
  addr_.add(static_cast<int64_t>(row.address));
  size_.add(row.size);
  usable_.add(row.usable);
  const bool resized = row.op == MLRUN_REALLOC || row.op == MLRUN_REALLOCARRAY;
  resized ? old_addr_.add(static_cast<int64_t>(row.old_address)) : old_addr_.add_null();
  resized ? old_usable_.add(row.old_usable) : old_usable_.add_null();
  align_.add_unless(0, row.align);
  site_.add(static_cast<int64_t>(row.site));
  site_library_.add_unless(0, row.site_library);
  row.site_library != 0 ? site_offset_.add(row.site_offset) : site_offset_.add_null();
  table_.row_added();
}

AllocSmallTable::AllocSmallTable()
    : table_("alloc_small"),
      origin_(table_),
      class_bytes_(table_.int64("class_bytes")),
      mallocs_(table_.int64("mallocs")),
      frees_(table_.int64("frees")),
      bytes_(table_.int64("bytes")) {}

void AllocSmallTable::add(const model::AllocSmallRow& row, const GroupEnds& ends) {
  origin_.add(row.origin, ends);
  class_bytes_.add(row.class_bytes);
  mallocs_.add(row.mallocs);
  frees_.add(row.frees);
  bytes_.add(row.bytes);
  table_.row_added();
}

template <typename Table, typename Row, typename Add>
Status PartWriter::write_table(Table& table, const std::vector<Row>& rows, const Partition& partition, RowKind kind,
                               size_t number, Add add) {
  if (rows.empty() && number != 0) return {};
  ParquetTable& parquet = table.parquet();
  const auto path = fmt::format("{}/{}/part-{:05}.parquet", folder_, parquet.name(), number);
  if (auto opened = parquet.open(path); !opened) return opened;
  const size_t groups = (rows.size() + kRowGroupRows - 1) / kRowGroupRows;
  const size_t rows_per_group = groups == 0 ? 0 : (rows.size() + groups - 1) / groups;
  group_.clear();
  size_t left = rows.size();
  GroupEnds ends;
  for (const RowRef& ref : partition.order) {
    if (ref.kind != kind) continue;
    if (group_.empty()) ends.min_ns = ref.time_ns;
    ends.max_ns = ref.time_ns;
    group_.push_back({rows[ref.index].origin.ts_ns, ref.index, kind});
    --left;
    if (group_.size() < rows_per_group && left != 0) continue;
    sort_by_time(group_, spare_);
    for (const RowRef& item : group_) add(rows[item.index], ends);
    group_.clear();
    if (auto ended = parquet.end_row_group(); !ended) return ended;
  }
  if (auto closed = parquet.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status PartWriter::write(const Partition& partition, size_t number, int64_t first_call_id) {
  auto calls =
      write_table(calls_, partition.calls, partition, RowKind::kCall, number,
                  [&](const model::CallRow& row, const GroupEnds& ends) { calls_.add(row, ends, first_call_id++); });
  if (!calls) return calls;
  auto allocs = write_table(allocs_, partition.allocs, partition, RowKind::kAlloc, number,
                            [&](const model::AllocRow& row, const GroupEnds& ends) { allocs_.add(row, ends); });
  if (!allocs) return allocs;
  return write_table(alloc_small_, partition.alloc_small, partition, RowKind::kCounters, number,
                     [&](const model::AllocSmallRow& row, const GroupEnds& ends) { alloc_small_.add(row, ends); });
}

}  // namespace mlrun::trace
