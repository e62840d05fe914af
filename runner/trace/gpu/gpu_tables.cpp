// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_tables.h"

#include <algorithm>

#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kNone = 0, kNever = -1;
constexpr uint32_t kByte = 0xff;
constexpr uint32_t kAsync = 1;              // CUPTI flag
constexpr uint32_t kNoStream = UINT32_MAX;  // CUPTI: not of one stream or context; since 13.5 memory records have 0
constexpr uint32_t kOnHost = INT32_MAX;     // CUPTI: the graph begins on the host

// By CUPTI's numbers; unknown numbers map to the first name.
std::vector<std::string> copy_names() {
  return {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
}
std::vector<std::string> memory_names() { return {std::begin(model::kGpuMemories), std::end(model::kGpuMemories)}; }
std::vector<std::string> operation_names() { return {"unknown", "allocation", "release"}; }
std::vector<std::string> pool_names() { return {"none", "local", "imported"}; }
std::vector<std::string> sync_names() {
  return {"unknown", "event synchronize", "stream wait event", "stream synchronize", "context synchronize"};
}
std::vector<std::string> clock_names() {
  return {"monotonic", "realtime", "none", "no end", "inverted", "outside", "other tool", "wrapped"};
}

std::vector<std::string> source_names() { return {"cupti", "uprobe"}; }

size_t label_of(uint32_t number, size_t names) { return number < names ? number : 0; }

}  // namespace

GpuEventTable::GpuEventTable(const char* name)
    : table_(name),
      end_min_(table_.same_int64("end_min")),
      end_max_(table_.same_int64("end_max")),
      ts_(table_.int64("ts", Encoding::kDelta)),
      proc_id_(table_.int32("proc_id")),
      image_id_(table_.int32("image_id")),
      thread_id_(table_.optional_int32("thread_id")),
      pid_(table_.int32("pid")),
      tid_(table_.optional_int32("tid")),
      dur_(table_.int64("dur", Encoding::kSplit)),
      correlation_id_(table_.int64("correlation_id", Encoding::kSplit)),
      mark_id_(table_.optional_int64("mark_id", Encoding::kDelta)),
      clock_(table_.label("clock", clock_names())) {}

void GpuEventTable::set(const GroupEnds& ends) {
  end_min_.set(ends.min_ns);
  end_max_.set(ends.max_ns);
}

void GpuEventTable::add_common(const model::GpuWorkRow& row) {
  ts_.add(row.origin.ts_ns);
  proc_id_.add(row.origin.proc_id);
  image_id_.add(row.origin.image_id);
  thread_id_.add_unless(0, row.origin.thread_id);
  pid_.add(row.origin.pid);
  tid_.add_unless(0, row.origin.tid);
  dur_.add(row.dur_ns);
  correlation_id_.add(row.correlation);
  mark_id_.add_unless(0, row.mark_id);
  clock_.add(label_of(row.clock, clock_names().size()));
}

GpuApiTable::GpuApiTable()
    : GpuEventTable("gpu_api"),
      func_(table_.text("func")),
      api_(table_.label("api", {"driver", "runtime"})),
      result_(table_.int64("result")),
      source_(table_.label("source", source_names())) {}

void GpuApiTable::add(const model::GpuWorkRow& row) {
  add_common(row);
  func_.add(row.func);
  api_.add(row.runtime);
  result_.add(row.result);
  source_.add(row.is_of_uprobe);
  table_.row_added();
}

GpuWorkTable::GpuWorkTable(const char* name)
    : GpuEventTable(name),
      gpu_id_(table_.optional_int32("gpu_id")),
      context_(table_.int64("context")),
      stream_(table_.int64("stream")),
      graph_id_(table_.optional_int64("graph_id")),
      graph_node_(table_.optional_int64("graph_node")) {}

void GpuWorkTable::add_work(const model::GpuWorkRow& row) {
  add_common(row);
  gpu_id_.add_unless(0, row.gpu_id);
  context_.add(row.context);
  stream_.add(row.stream);
  graph_id_.add_unless(kNone, row.graph);
  graph_node_.add_unless(kNone, static_cast<int64_t>(row.graph_node));
}

GpuKernelTable::GpuKernelTable()
    : GpuWorkTable("gpu_kernel"),
      name_id_(table_.optional_int64("name_id")),
      grid_x_(table_.int64("grid_x")),
      grid_y_(table_.int64("grid_y")),
      grid_z_(table_.int64("grid_z")),
      block_x_(table_.int64("block_x")),
      block_y_(table_.int64("block_y")),
      block_z_(table_.int64("block_z")),
      registers_(table_.int64("registers")),
      static_shared_(table_.int64("static_shared_bytes")),
      dynamic_shared_(table_.int64("dynamic_shared_bytes")),
      local_bytes_(table_.int64("local_bytes")) {}

void GpuKernelTable::add(const model::GpuWorkRow& row) {
  add_work(row);
  name_id_.add_unless(kNone, row.name_id);
  grid_x_.add(row.grid[0]);
  grid_y_.add(row.grid[1]);
  grid_z_.add(row.grid[2]);
  block_x_.add(row.block[0]);
  block_y_.add(row.block[1]);
  block_z_.add(row.block[2]);
  registers_.add(row.detail);
  static_shared_.add(row.static_shared);
  dynamic_shared_.add(row.dynamic_shared);
  local_bytes_.add(row.local_bytes);
  table_.row_added();
}

GpuMemcpyTable::GpuMemcpyTable()
    : GpuWorkTable("gpu_memcpy"),
      kind_(table_.label("kind", copy_names())),
      source_(table_.label("source", memory_names())),
      target_(table_.label("target", memory_names())),
      bytes_(table_.int64("bytes")),
      async_(table_.boolean("async")),
      source_gpu_id_(table_.optional_int32("source_gpu_id")),
      target_gpu_id_(table_.optional_int32("target_gpu_id")) {}

void GpuMemcpyTable::add(const model::GpuWorkRow& row) {
  add_work(row);
  kind_.add(label_of(row.detail & kByte, copy_names().size()));
  source_.add(label_of(row.detail >> 8 & kByte, memory_names().size()));
  target_.add(label_of(row.detail >> 16 & kByte, memory_names().size()));
  bytes_.add(row.bytes);
  async_.add((row.detail >> 24 & kAsync) != 0);
  source_gpu_id_.add_unless(0, row.source_gpu_id);
  target_gpu_id_.add_unless(0, row.target_gpu_id);
  table_.row_added();
}

GpuMemsetTable::GpuMemsetTable()
    : GpuWorkTable("gpu_memset"),
      memory_(table_.label("memory", memory_names())),
      bytes_(table_.int64("bytes")),
      value_(table_.int64("value")),
      async_(table_.boolean("async")) {}

void GpuMemsetTable::add(const model::GpuWorkRow& row) {
  add_work(row);
  memory_.add(label_of(row.detail & 0xffff, memory_names().size()));
  bytes_.add(row.bytes);
  value_.add(row.value);
  async_.add((row.detail >> 16 & kAsync) != 0);
  table_.row_added();
}

GpuSyncTable::GpuSyncTable()
    : GpuEventTable("gpu_sync"),
      kind_(table_.label("kind", sync_names())),
      context_(table_.optional_int64("context")),
      stream_(table_.optional_int64("stream")),
      event_(table_.optional_int64("event")),
      source_(table_.label("source", source_names())) {}

void GpuSyncTable::add(const model::GpuWorkRow& row) {
  add_common(row);
  kind_.add(label_of(row.detail, sync_names().size()));
  context_.add_unless(row.is_of_uprobe ? kNone : kNever, row.context);
  stream_.add_unless(kNoStream, row.stream);
  event_.add_unless(kNone, row.event);
  source_.add(row.is_of_uprobe);
  table_.row_added();
}

GpuGraphTable::GpuGraphTable()
    : GpuEventTable("gpu_graph"),
      gpu_id_(table_.optional_int32("gpu_id")),
      context_(table_.optional_int64("context")),
      stream_(table_.int64("stream")),
      graph_id_(table_.int64("graph_id")),
      nodes_(table_.optional_int64("nodes")),
      busy_(table_.optional_int64("busy")) {}

void GpuGraphTable::add(const model::GpuWorkRow& row) {
  add_common(row);
  gpu_id_.add_unless(0, row.gpu_id);
  context_.add_unless(kOnHost, row.context);
  stream_.add(row.stream);
  graph_id_.add(row.graph);
  nodes_.add_unless(kNone, row.detail);
  busy_.add_unless(-1, row.detail != 0 ? row.busy_ns : -1);
  table_.row_added();
}

GpuMemoryTable::GpuMemoryTable()
    : GpuEventTable("gpu_memory"),
      gpu_id_(table_.optional_int32("gpu_id")),
      context_(table_.optional_int64("context")),
      stream_(table_.optional_int64("stream")),
      operation_(table_.label("operation", operation_names())),
      memory_(table_.label("memory", memory_names())),
      address_(table_.int64("address")),
      bytes_(table_.int64("bytes")),
      async_(table_.boolean("async")),
      pool_(table_.label("pool", pool_names())),
      pool_address_(table_.optional_int64("pool_address")),
      pool_bytes_(table_.optional_int64("pool_bytes")),
      pool_used_(table_.optional_int64("pool_used_bytes")),
      source_(table_.label("source", source_names())),
      func_(table_.optional_text("func")),
      is_handle_(table_.boolean("is_handle")),
      stack_id_(table_.optional_int32("stack_id")),
      device_(table_.optional_int32("device")),
      site_(table_.optional_int64("site")),
      site_library_(table_.optional_int64("site_library")),
      site_offset_(table_.optional_int64("site_offset")) {}

void GpuMemoryTable::add(const model::GpuWorkRow& row) {
  const size_t pool = label_of(row.detail >> 16 & kByte, pool_names().size());
  const bool is_local = pool == 1;
  add_common(row);
  gpu_id_.add_unless(0, row.gpu_id);
  context_.add_unless(kNone, row.context == kNoStream ? kNone : row.context);
  stream_.add_unless(kNone, row.stream == kNoStream ? kNone : row.stream);
  operation_.add(static_cast<size_t>(model::operation_of(row.detail)));
  memory_.add(model::memory_of(row.detail));
  address_.add(static_cast<int64_t>(row.address));
  bytes_.add(row.bytes);
  async_.add((row.detail >> 24 & kAsync) != 0);
  pool_.add(pool);
  pool_address_.add_unless(kNone, static_cast<int64_t>(row.pool));
  pool_bytes_.add_unless(-1, is_local ? row.pool_bytes : -1);
  pool_used_.add_unless(-1, is_local ? row.pool_used : -1);
  source_.add(row.is_of_uprobe);
  func_.add_unless_empty(row.is_of_uprobe ? row.func : std::string_view());
  is_handle_.add(row.is_handle);
  stack_id_.add_unless(0, row.stack_id);
  device_.add_unless(-1, row.device);
  site_.add_unless(kNone, static_cast<int64_t>(row.site));
  site_library_.add_unless(kNone, row.site_library);
  site_offset_.add_unless(-1, row.site_library != 0 ? row.site_offset : -1);
  table_.row_added();
}

}  // namespace mlrun::trace
