// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/recording_options.h"

#include <memory>

#include "runner/events/session.h"
#include "runner/sums/event_sums.h"
#include "runner/util/clock.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kDefaultBufferBytes = 256 << 20;

}  // namespace

collect::RecordingOptions recording_options(const RunOptions& options, const std::string& folder,
                                            const std::string& placement_bytes) {
  collect::RecordingOptions result;
  result.trace_folder = folder;
  result.buffer_bytes = options.buffer_bytes.value_or(kDefaultBufferBytes);
  result.buffer_exact = options.buffer_bytes.has_value();
  result.max_spool_bytes = options.max_spool_bytes;
  result.lossless = options.lossless;
  result.alloc_min_bytes = options.alloc_min_bytes;
  result.alloc_sample_bytes = options.alloc_sample_bytes;
  result.path_rules = options.path_rules_bytes;
  result.placement = placement_bytes;
  result.last_ns = options.last_ns;
  result.stack_depth = options.stack_depth;
  result.graph_nodes_per_s = options.graph_nodes_per_s.value_or(kGraphNodesPerS);
  if (options.summary_only) {
    result.make_sink = [mllog = options.mllog, alloc_min_bytes = static_cast<int64_t>(options.alloc_min_bytes),
                        alloc_times = options.alloc_times, folder](uint64_t max_spool_bytes) {
      return std::make_unique<sums::EventSums>(sums::EventSumsOptions{
          collect::sums_path(folder), util::choose_clock().kind, mllog, alloc_min_bytes, max_spool_bytes, alloc_times});
    };
  }
  result.streams = 0;  // --preload=off means none of these, even if the library is loaded for GPU work
  if (options.preload != Wish::kOff) {
    result.streams = (options.files ? uint32_t{MLRUN_STREAM_FILES} : 0u) |
                     (options.allocs ? uint32_t{MLRUN_STREAM_ALLOCS} : 0u) |
                     (options.allocs && options.alloc_times ? uint32_t{MLRUN_STREAM_ALLOC_TIMES} : 0u) |
                     (options.marks ? uint32_t{MLRUN_STREAM_MARKS} : 0u);
  }
  if (options.cupti != Wish::kOff) {
    result.streams |= MLRUN_STREAM_GPU | (options.whole_graphs ? uint32_t{MLRUN_STREAM_GPU_GRAPHS} : 0u);
  }
  return result;
}

}  // namespace mlrun::commands
