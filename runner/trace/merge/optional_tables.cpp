// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/optional_tables.h"

#include <arrow/api.h>
#include <nlohmann/json.hpp>

#include "runner/idle/idle_table.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
#include "runner/trace/access/access_row.h"
#include "runner/trace/access/page_pass.h"
#include "runner/trace/gpu/gpu_file_table.h"
#include "runner/trace/gpu/gpu_tables.h"
#include "runner/trace/gpu/torch_memory_table.h"
#include "runner/trace/imported/imported_tables.h"
#include "runner/trace/kernel/device_table.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/trace/kernel/memory_table.h"
#include "runner/trace/kernel/remote_table.h"
#include "runner/trace/kernel/syscall_table.h"
#include "runner/trace/marks/collective_table.h"
#include "runner/trace/merge/call_tables.h"
#include "runner/trace/samples/gpu_samples.h"
#include "runner/trace/samples/host_samples.h"
#include "runner/trace/samples/python_stacks.h"

namespace mlrun::trace {

namespace {

// Visits every optional table, empty but with its columns declared. Stops at the first error.
Status visit_all(const tables::TableVisit& visit) {
  const model::TraceInfo nothing;
  Status visited =
      tables::visit_empty<CallTable, AllocTable, AllocSmallTable, RequestTable, FragmentTable, WaitTable, FileOpTable,
                          RemoteTable, GpuFileTable, TorchMemoryTable, MemoryTable, GpuApiTable, GpuKernelTable,
                          GpuMemcpyTable, GpuMemsetTable, GpuSyncTable, GpuMemoryTable, GpuGraphTable, CollectiveTable,
                          AccessTable, AccessSiteTable, PageSiteTable, SliceTable, FlowTable, CounterTable,
                          StackSampleTable, OtherEventTable>(visit);
  if (visited) visited = visit(idle::IdleTable(nothing).parquet());
  if (visited) visited = visit_device_table(visit);
  if (visited) visited = visit_syscall_tables(visit);
  if (visited) visited = visit_gpu_sample_tables(visit);
  if (visited) visited = visit_host_sample_tables(visit);
  return visited ? visit_python_table(visit) : visited;
}

}  // namespace

Status complete_tables(const std::string& tables_folder, nlohmann::json& run) {
  const Status written = visit_all([&](tables::ParquetTable& table) -> Status {
    if (tables::has_table(tables_folder, table.name())) return {};
    if (Status opened = table.open_in(tables_folder); !opened) return opened;
    if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  });
  if (written) run["tables"] = tables::table_files(tables_folder);
  return written;
}

std::shared_ptr<arrow::Schema> optional_table_schema(const std::string& table) {
  std::shared_ptr<arrow::Schema> found;
  static_cast<void>(visit_all([&](tables::ParquetTable& candidate) -> Status {
    if (candidate.name() == table) found = candidate.schema();
    return {};
  }));
  return found;
}

}  // namespace mlrun::trace
