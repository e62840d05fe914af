// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_tables.h"

#include <array>
#include <iterator>

#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

namespace {

using tables::kDelta;
using tables::kSplit;

constexpr uint32_t kByte = 0xff;
constexpr uint32_t kAsync = 1;              // bit of CUPTI's flags: the copy is asynchronous
constexpr uint32_t kNoStream = UINT32_MAX;  // CUPTI: no single stream or context; 0 in memory records since 13.5
constexpr uint32_t kOnHost = INT32_MAX;     // CUPTI: the graph begins on the host

// Names of CUPTI's enumerations by number; an unknown number gets the first name.
constexpr std::array kCopies = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array kMemoryOperations = {"unknown", "allocation", "release"};
constexpr std::array kPools = {"none", "local", "imported"};
constexpr std::array kSyncs = {"unknown", "event synchronize", "stream wait event", "stream synchronize",
                               "context synchronize"};
constexpr std::array kClocks = {"monotonic", "realtime", "none",       "no end",
                                "inverted",  "outside",  "other tool", "wrapped"};
constexpr std::array kApis = {"driver", "runtime"};
constexpr std::array kSources = {"cupti", "uprobe"};

void visit_number(auto& visitor, const char* name, uint32_t number, const auto& names) {
  visitor.label(name, number < std::size(names) ? number : 0, names);
}

void visit_event(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
  visit_ends(visitor, ends);
  visitor("ts", row.origin.ts_ns, kDelta);
  visitor("proc_id", row.origin.proc_id);
  visitor("image_id", row.origin.image_id);
  visitor.optional("thread_id", row.origin.thread_id, 0);
  visitor("pid", row.origin.pid);
  visitor.optional("tid", row.origin.tid, 0);
  visitor("dur", row.dur_ns, kSplit);
  visitor("correlation_id", row.correlation, kSplit);
  visitor.optional("mark_id", row.mark_id, 0, kDelta);
  visit_number(visitor, "clock", row.clock, kClocks);
}

// The columns of work that runs on a device, in a stream.
void visit_work(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
  visit_event(visitor, row, ends);
  visitor.optional("gpu_id", row.gpu_id, 0);
  visitor("context", row.context);
  visitor("stream", row.stream);
  visitor.optional("graph_id", row.graph, 0);
  visitor.optional("graph_node", row.graph_node, 0);
}

}  // namespace

struct GpuApiColumns {
  static constexpr const char* kTable = "gpu_api";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_event(visitor, row, ends);
    visitor("func", row.func);
    visitor.label("api", row.runtime, kApis);
    visitor("result", row.result);
    visitor.label("source", row.is_of_uprobe, kSources);
  }
};

struct GpuKernelColumns {
  static constexpr const char* kTable = "gpu_kernel";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_work(visitor, row, ends);
    visitor.optional("name_id", row.name_id, 0);
    visitor("grid_x", row.grid[0]);
    visitor("grid_y", row.grid[1]);
    visitor("grid_z", row.grid[2]);
    visitor("block_x", row.block[0]);
    visitor("block_y", row.block[1]);
    visitor("block_z", row.block[2]);
    visitor("registers", row.detail);
    visitor("static_shared_bytes", row.static_shared);
    visitor("dynamic_shared_bytes", row.dynamic_shared);
    visitor("local_bytes", row.local_bytes);
  }
};

struct GpuMemcpyColumns {
  static constexpr const char* kTable = "gpu_memcpy";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_work(visitor, row, ends);
    visit_number(visitor, "kind", row.detail & kByte, kCopies);
    visit_number(visitor, "source", row.detail >> 8 & kByte, model::kGpuMemories);
    visit_number(visitor, "target", row.detail >> 16 & kByte, model::kGpuMemories);
    visitor("bytes", row.bytes);
    visitor("async", (row.detail >> 24 & kAsync) != 0);
    visitor.optional("source_gpu_id", row.source_gpu_id, 0);
    visitor.optional("target_gpu_id", row.target_gpu_id, 0);
    visitor.optional("host_address", row.host.address, 0);
    visitor.optional("host_node", row.host.node, -1);
    visitor.optional("misplaced_bytes", row.host.misplaced_bytes, -1);
  }
};

struct GpuMemsetColumns {
  static constexpr const char* kTable = "gpu_memset";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_work(visitor, row, ends);
    visit_number(visitor, "memory", row.detail & 0xffff, model::kGpuMemories);
    visitor("bytes", row.bytes);
    visitor("value", row.value);
    visitor("async", (row.detail >> 16 & kAsync) != 0);
  }
};

struct GpuSyncColumns {
  static constexpr const char* kTable = "gpu_sync";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_event(visitor, row, ends);
    visit_number(visitor, "kind", row.detail, kSyncs);
    visitor.optional("context", tables::value_if(!row.is_of_uprobe || row.context != 0, row.context));
    visitor.optional("stream", row.stream, kNoStream);
    visitor.optional("event", row.event, 0);
    visitor.label("source", row.is_of_uprobe, kSources);
  }
};

struct GpuGraphColumns {
  static constexpr const char* kTable = "gpu_graph";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    visit_event(visitor, row, ends);
    visitor.optional("gpu_id", row.gpu_id, 0);
    visitor.optional("context", row.context, kOnHost);
    visitor("stream", row.stream);
    visitor("graph_id", row.graph);
    visitor.optional("nodes", row.detail, 0);
    visitor.optional("busy_ns", row.detail != 0 ? row.busy_ns : -1, -1);
  }
};

struct GpuMemoryColumns {
  static constexpr const char* kTable = "gpu_memory";
  static void visit(auto& visitor, const model::GpuWorkRow& row, const GroupEnds& ends) {
    const uint32_t pool = row.detail >> 16 & kByte;
    const bool is_local = pool == 1;
    visit_event(visitor, row, ends);
    visitor.optional("gpu_id", row.gpu_id, 0);
    visitor.optional("context", row.context == kNoStream ? 0 : row.context, 0);
    visitor.optional("stream", row.stream == kNoStream ? 0 : row.stream, 0);
    visitor.label("operation", model::operation_of(row.detail), kMemoryOperations);
    visitor.label("memory", model::memory_of(row.detail), model::kGpuMemories);
    visitor("address", row.address);
    visitor("bytes", row.bytes);
    visitor("async", (row.detail >> 24 & kAsync) != 0);
    visit_number(visitor, "pool", pool, kPools);
    visitor.optional("pool_address", row.pool, 0);
    visitor.optional("pool_bytes", is_local ? row.pool_bytes : -1, -1);
    visitor.optional("pool_used_bytes", is_local ? row.pool_used : -1, -1);
    visitor.label("source", row.is_of_uprobe, kSources);
    visitor.optional("func", row.is_of_uprobe ? row.func : std::string_view());
    visitor("is_handle", row.is_handle);
    visitor.optional("stack_id", row.stack_id, 0);
    visitor.optional("device", row.device, -1);
    visitor.optional("site", row.site, 0);
    visitor.optional("site_library", row.site_library, 0);
    visitor.optional("site_offset", row.site_library != 0 ? row.site_offset : -1, -1);
  }
};

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::GpuApiColumns, mlrun::model::GpuWorkRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuKernelColumns, mlrun::model::GpuWorkRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuMemcpyColumns, mlrun::model::GpuWorkRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuMemsetColumns, mlrun::model::GpuWorkRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuSyncColumns, mlrun::model::GpuWorkRow, mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuMemoryColumns, mlrun::model::GpuWorkRow,
                                       mlrun::trace::GroupEnds>;
template class mlrun::tables::RowTable<mlrun::trace::GpuGraphColumns, mlrun::model::GpuWorkRow,
                                       mlrun::trace::GroupEnds>;
