// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/optional_tables.h"

#include <filesystem>
#include <functional>

#include <arrow/api.h>
#include <nlohmann/json.hpp>

#include "runner/idle/idle_table.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
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

namespace mlrun::trace {

namespace {

using Visit = std::function<Status(tables::ParquetTable&)>;

template <typename Table, typename... Arguments>
Status visit_table(const Visit& visit, const Arguments&... arguments) {
  Table table(arguments...);
  return visit(table.parquet());
}

// Visits every optional table, empty but with its columns declared. Stops at the first error.
Status visit_all(const Visit& visit) {
  const model::TraceInfo nothing;
  const std::function<Status()> tables[] = {
      [&] { return visit_table<CallTable>(visit); },
      [&] { return visit_table<AllocTable>(visit); },
      [&] { return visit_table<AllocSmallTable>(visit); },
      [&] { return visit_table<RequestTable>(visit); },
      [&] { return visit_table<FragmentTable>(visit); },
      [&] { return visit_table<WaitTable>(visit); },
      [&] { return visit_table<FileOpTable>(visit); },
      [&] { return visit_table<RemoteTable>(visit); },
      [&] { return visit_table<GpuFileTable>(visit); },
      [&] { return visit_table<TorchMemoryTable>(visit); },
      [&] { return visit_table<MemoryTable>(visit); },
      [&] { return visit_table<GpuApiTable>(visit); },
      [&] { return visit_table<GpuKernelTable>(visit); },
      [&] { return visit_table<GpuMemcpyTable>(visit); },
      [&] { return visit_table<GpuMemsetTable>(visit); },
      [&] { return visit_table<GpuSyncTable>(visit); },
      [&] { return visit_table<GpuMemoryTable>(visit); },
      [&] { return visit_table<GpuGraphTable>(visit); },
      [&] { return visit_table<idle::IdleTable>(visit, nothing); },
      [&] { return visit_table<CollectiveTable>(visit); },
      [&] { return visit_table<SliceTable>(visit); },
      [&] { return visit_table<FlowTable>(visit); },
      [&] { return visit_table<CounterTable>(visit); },
      [&] { return visit_table<StackSampleTable>(visit); },
      [&] { return visit_table<OtherEventTable>(visit); },
      [&] { return visit_device_table(visit); },
      [&] { return visit_syscall_tables(visit); },
  };
  for (const auto& table : tables) {
    if (Status visited = table(); !visited) return visited;
  }
  return {};
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

std::vector<std::string> optional_tables() {
  std::vector<std::string> names;
  static_cast<void>(visit_all([&](tables::ParquetTable& table) -> Status {
    names.push_back(table.name());
    return {};
  }));
  return names;
}

}  // namespace mlrun::trace
