// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/call_tables.h"

#include <array>

#include "runner/decode/func_names.h"
#include "runner/events/record.h"
#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

namespace {

using tables::Encoding;
using tables::kDelta;

// By func_slot().
std::vector<std::string> func_names() {
  std::vector<std::string> names;
  for (uint16_t number = 0; number < decode::kFuncs; ++number) names.push_back(decode::func_name(number));
  return names;
}

std::vector<std::string> alloc_names() {
  return {"malloc",         "calloc",        "realloc",  "reallocarray", "free",
          "posix_memalign", "aligned_alloc", "memalign", "valloc",       "pvalloc"};
}

std::vector<std::string> via_names() { return {"function", "syscall"}; }

std::vector<std::string> offset_source_names() { return {"none", "argument", "derived", "kernel", "unknown"}; }

// The columns that only the kernel side fills.
struct SplitColumn {
  const char* name;
  int64_t model::CallSplit::*part;
};
constexpr std::array<SplitColumn, 8> kSplitColumns = {{{"own_ns", &model::CallSplit::own_ns},
                                                       {"runq_ns", &model::CallSplit::runq_ns},
                                                       {"vfs_ns", &model::CallSplit::vfs_ns},
                                                       {"queue_ns", &model::CallSplit::queue_ns},
                                                       {"device_ns", &model::CallSplit::device_ns},
                                                       {"device_shared_ns", &model::CallSplit::device_shared_ns},
                                                       {"remote_ns", &model::CallSplit::remote_ns},
                                                       {"wait_ns", &model::CallSplit::wait_ns}}};
struct PageColumn {
  const char* name;
  int64_t ReadPages::*pages;
};
constexpr std::array<PageColumn, 2> kPageColumns = {
    {{"miss_pages", &ReadPages::missing}, {"ra_pages", &ReadPages::ahead}}};

}  // namespace

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
      gpu_file_id_(table_.optional_int64("gpu_file_id", Encoding::kDelta)),
      poster_thread_id_(table_.optional_int32("poster_thread_id")) {
  const auto declare = [&](const char* name, Encoding encoding, std::vector<tables::Int64Column*>& to) {
    has_kernel_side ? to.push_back(&table_.optional_int64(name, encoding)) : table_.empty_int64(name);
  };
  for (const SplitColumn& column : kSplitColumns) declare(column.name, Encoding::kSplit, split_);
  for (const PageColumn& column : kPageColumns) declare(column.name, Encoding::kDictionary, pages_);
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
  each(func_, [](const Row& row) { return decode::func_slot(row.func); });
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
  each_unless(0, poster_thread_id_, &Row::poster_thread_id);
  for (size_t at = 0; at < split_.size(); ++at) {
    split_[at]->add_each_if(
        rows.size(), [&](size_t i) { return rows[i]->split != nullptr; },
        [&](size_t i) { return rows[i]->split->*kSplitColumns[at].part; });
  }
  for (size_t at = 0; at < pages_.size(); ++at) {
    pages_[at]->add_each_if(
        rows.size(), [&](size_t i) { return i < pages.size() && pages[i].has_value(); },
        [&](size_t i) { return (*pages[i]).*kPageColumns[at].pages; });
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
      stack_id_(table_.optional_int32("stack_id")),
      node_(table_.optional_int64("node")) {}

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
  const auto node_of = [&](const Row& row) {
    return row.op == MLRUN_FREE ? -1 : nodes_.node_of(row.origin.pid, row.address);
  };
  each_if([&](const Row& row) { return node_of(row) >= 0; }, node_, node_of);
  table_.rows_added(rows.size());
}

struct AllocSmallColumns {
  static constexpr const char* kTable = "alloc_small";
  static void visit(auto& visitor, const model::AllocSmallRow& row, const GroupEnds& ends) {
    visit_ends(visitor, ends);
    visitor("ts", row.origin.ts_ns, kDelta);
    visitor("proc_id", row.origin.proc_id);
    visitor("image_id", row.origin.image_id);
    visitor("thread_id", row.origin.thread_id);
    visitor("pid", row.origin.pid);
    visitor("tid", row.origin.tid);
    visitor("class_bytes", row.class_bytes);
    visitor("mallocs", row.mallocs);
    visitor("frees", row.frees);
    visitor("bytes", row.bytes);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::AllocSmallColumns, mlrun::model::AllocSmallRow,
                                       mlrun::trace::GroupEnds>;
