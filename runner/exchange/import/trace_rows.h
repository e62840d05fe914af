// SPDX-License-Identifier: Apache-2.0
// The tables of a TraceMaker while they grow.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runner/exchange/import/event_table.h"
#include "runner/exchange/import/trace_maker.h"
#include "runner/summary/gpu/gpu_work_meter.h"
#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/mark_meter.h"
#include "runner/summary/summary.h"
#include "runner/trace/gpu/torch_memory_table.h"
#include "runner/trace/imported/imported_tables.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/trace/merge/staging_folder.h"
#include "runner/util/flat_map.h"

namespace mlrun::exchange {

// The part of a mark that is not text: its texts are stored beside it while marks are sorted.
struct MarkFields {
  model::Origin origin;
  int64_t dur_ns = -1, error_ns = 0;
  bool is_open = false;
};

// `join`: number of the file; correlation numbers are unique only within a file.
struct GpuFields {
  uint32_t join = 0;
  model::GpuWorkRow row;
};
// Only these bytes are kept while rows are sorted: imported work lacks the fields from busy_ns on, or they follow from its name or call.
inline constexpr size_t kGpuBytes = offsetof(GpuFields, row) + offsetof(model::GpuWorkRow, busy_ns);

struct Launch {
  int32_t thread_id = 0, proc_id = 0;
  int64_t ts_ns = 0;
};

static_assert(offsetof(model::SliceRow, name) == kBytesBeforeTexts<model::SliceRow, 5>);
static_assert(offsetof(model::FlowRow, name) == kBytesBeforeTexts<model::FlowRow, 4>);
static_assert(offsetof(model::CounterRow, name) == kBytesBeforeTexts<model::CounterRow, 3>);
static_assert(offsetof(model::StackSampleRow, event) == kBytesBeforeTexts<model::StackSampleRow, 2>);
static_assert(offsetof(model::OtherEventRow, kind) == kBytesBeforeTexts<model::OtherEventRow, 5>);

struct TraceMaker::Rows {
  explicit Rows(trace::StagingFolder folder);

  trace::StagingFolder staging;
  // A table of rows whose last members are the views of their texts.
  template <typename Table, typename Row, size_t kTexts>
  using TextTable = EventTable<Table, Row, kTexts, kBytesBeforeTexts<Row, kTexts>>;
  TextTable<trace::SliceTable, model::SliceRow, 5> slices;
  TextTable<trace::FlowTable, model::FlowRow, 4> flows;
  TextTable<trace::CounterTable, model::CounterRow, 3> counters;
  TextTable<trace::StackSampleTable, model::StackSampleRow, 2> samples;
  TextTable<trace::OtherEventTable, model::OtherEventRow, 5> others;
  EventTable<trace::RequestTable, trace::RequestRow, 1> requests;
  EventTable<trace::FragmentTable, trace::FragmentRow, 1> fragments;
  EventTable<trace::TorchMemoryTable, trace::TorchMemoryTableRow, 1> torch_memories;
  SortedRows<model::CallRow, 1> calls;
  SortedRows<GpuFields, 1, kGpuBytes> gpu;
  SortedRows<MarkFields, 4> marks;  // domain, name, value, scope
  util::FlatMap<Launch> launches;   // by join and correlation
  int64_t slice_ids = 0, requests_made = 0, calls_made = 0;
  summary::GpuWorkMeter gpu_work;
  summary::MarkMeter mark_meter;
};

}  // namespace mlrun::exchange
