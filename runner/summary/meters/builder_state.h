// SPDX-License-Identifier: Apache-2.0
// The builder's meters. Included by the builder's own sources only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runner/summary/meters/builder.h"
#include "runner/summary/meters/call_meter.h"
#include "runner/summary/meters/file_access_meter.h"
#include "runner/summary/meters/file_meter.h"
#include "runner/summary/meters/file_names.h"
#include "runner/summary/meters/gpu_file_meter.h"
#include "runner/summary/meters/heap_meter.h"
#include "runner/summary/meters/mapping_meter.h"
#include "runner/summary/meters/phase_meter.h"
#include "runner/summary/meters/site_meter.h"
#include "runner/summary/meters/split_meter.h"
#include "runner/summary/meters/timeline.h"
#include "runner/summary/meters/torch_memory_meter.h"
#include "runner/summary/meters/wait_meter.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

struct Builder::State {
  struct Process {
    Process(int64_t alloc_min_bytes, int64_t alloc_sample_bytes, BlockRoom& room, MappingRoom& mapping_room)
        : heap(alloc_min_bytes, alloc_sample_bytes, room), mappings(mapping_room) {}
    std::array<Totals, kGroups> totals{};
    WaitMeter waits;
    HeapMeter heap;
    MappingMeter mappings;
    std::vector<int64_t> made_folders;  // file_ids of the first folders that the process made
    std::optional<HeapSum> heap_sum;    // the heap from --summary-only, which has no rows of events
  };

  explicit State(BuilderOptions options);
  Process& process(int32_t proc_id);
  void note_file_access(const model::CallRow& row, mlrun_call_class call_class, CallFacts& facts);
  void add_copied_files(const model::CallRow& row, const CallFacts& facts);
  void add_files(const model::SumRow& sum, const CallFacts& facts);
  // Order: parents before children, then processes that have rows but no process row.
  std::vector<ProcessSummary> process_summaries(const model::TraceInfo& info, const ProcessTree& tree);

  int64_t alloc_min_bytes, alloc_sample_bytes;
  bool has_page_cache;
  double estimated_allocations = 0, estimated_bytes = 0;  // estimates from sampled allocations
  int64_t call_rows = 0, alloc_rows = 0, counted_allocations = 0, counted_frees = 0, served_calls = 0;
  util::FlatMap<std::unique_ptr<Process>> processes;  // by proc_id + 1
  BlockRoom block_room;
  MappingRoom mapping_room;
  CallMeter calls;
  FileNames names;
  FileMeter files;
  FileAccessMeter file_access;
  SiteMeter sites;
  Timeline timeline;
  PhaseMeter phases;
  SplitMeter splits;
  GpuFileMeter gpu_files;
  TorchMemoryMeter torch_memory;
};

}  // namespace mlrun::summary
