// SPDX-License-Identifier: Apache-2.0
// Adds up the host buffers of copies, and finds the allocation site of buffers that were on another NUMA node than the
// GPU: from the table `alloc` and from CUDA's allocations of pinned memory. Memory: kFollowedMax copies; further copies
// have no site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/trace_info.h"
#include "runner/summary/gpu_work.h"
#include "runner/trace/access/access_join.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class HostBufferPass {
 public:
  // Rows of GpuKind::kMemcpy and kMemory; others are ignored.
  void add(const model::GpuWorkRow& row);

  // Requires: `alloc` is written in `folder`, and processes are known. `alloc_min_bytes`: --alloc-min. `pauses`: as for AccessJoin.
  Status find_sites(const model::TraceInfo& info, int64_t alloc_min_bytes, const std::vector<RecordingPause>& pauses,
                    const std::string& folder);

  // The kTopGpuHosts groups with the most misplaced bytes. Requires: the frames of info.stacks are symbolized.
  [[nodiscard]] std::vector<summary::GpuHostSummary> finish(const model::TraceInfo& info) const;

 private:
  static constexpr size_t kFollowedMax = size_t{1} << 20;
  using Key = std::tuple<int32_t, int32_t, size_t, AllocSite>;  // process, GPU, kind of memory, site
  struct Copy {
    int64_t call_ns = 0;
    uint64_t address = 0;
    int32_t proc_id = 0, gpu_id = 0, gpu_node = -1, error = 0;
    size_t memory = 0;  // kind of memory, index in model::kGpuMemories
    int64_t bytes = 0, time_ns = 0, known_bytes = 0, misplaced_bytes = 0;
    AllocSite site = {};
    [[nodiscard]] AccessRow access() const;
  };
  void add_to_group(const Copy& copy);
  void add_pinned(const model::GpuWorkRow& row);
  void take(AccessJoin& join, int64_t before_ns);

  std::map<Key, summary::GpuHostSummary> groups_;
  std::vector<Copy> misplaced_;
  std::vector<AllocEvent> pinned_;
  size_t next_copy_ = 0, next_pinned_ = 0;  // what take() passes next
};

}  // namespace mlrun::trace
