// SPDX-License-Identifier: Apache-2.0
// The tables of GPU work: gpu_api, gpu_kernel, gpu_memcpy, gpu_memset, gpu_sync, gpu_memory, gpu_graph (launches of
// graphs that CUPTI reports as a whole). Columns: TABLES.md.
#pragma once

#include "runner/model/gpu_rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

struct GpuApiColumns;
struct GpuKernelColumns;
struct GpuMemcpyColumns;
struct GpuMemsetColumns;
struct GpuSyncColumns;
struct GpuMemoryColumns;
struct GpuGraphColumns;
using GpuApiTable = RowTable<GpuApiColumns, model::GpuWorkRow, GroupEnds>;
using GpuKernelTable = RowTable<GpuKernelColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemcpyTable = RowTable<GpuMemcpyColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemsetTable = RowTable<GpuMemsetColumns, model::GpuWorkRow, GroupEnds>;
using GpuSyncTable = RowTable<GpuSyncColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemoryTable = RowTable<GpuMemoryColumns, model::GpuWorkRow, GroupEnds>;
using GpuGraphTable = RowTable<GpuGraphColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuApiColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuKernelColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuMemcpyColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuMemsetColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuSyncColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuMemoryColumns, model::GpuWorkRow, GroupEnds>;
extern template class RowTable<GpuGraphColumns, model::GpuWorkRow, GroupEnds>;

}  // namespace mlrun::trace
