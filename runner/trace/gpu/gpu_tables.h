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
using GpuApiTable = tables::RowTable<GpuApiColumns, model::GpuWorkRow, GroupEnds>;
using GpuKernelTable = tables::RowTable<GpuKernelColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemcpyTable = tables::RowTable<GpuMemcpyColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemsetTable = tables::RowTable<GpuMemsetColumns, model::GpuWorkRow, GroupEnds>;
using GpuSyncTable = tables::RowTable<GpuSyncColumns, model::GpuWorkRow, GroupEnds>;
using GpuMemoryTable = tables::RowTable<GpuMemoryColumns, model::GpuWorkRow, GroupEnds>;
using GpuGraphTable = tables::RowTable<GpuGraphColumns, model::GpuWorkRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::GpuApiColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuKernelColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuMemcpyColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuMemsetColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuSyncColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuMemoryColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::GpuGraphColumns, mlrun::model::GpuWorkRow,
                                              mlrun::trace::GroupEnds>;
