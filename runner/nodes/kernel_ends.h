// SPDX-License-Identifier: Apache-2.0
// When NCCL's collectives ended on the GPU: a call only enqueues its kernel. A kernel belongs to the collective during whose call, on the same
// thread, the CUDA call launched it.
#pragma once

#include <cstdint>
#include <tuple>

#include "runner/nodes/moments.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"
#include "runner/util/spilled_sort.h"

namespace mlrun::nodes {

struct Kernel {
  int64_t correlation = 0, end_ns = 0;
  int32_t proc_id = 0;
  auto operator<=>(const Kernel& other) const {
    return std::tie(proc_id, correlation) <=> std::tie(other.proc_id, other.correlation);
  }
};
using Kernels = util::SpilledSort<Kernel>;

// Reads NCCL's kernels. Adds none if the trace has no GPU work.
Status read_kernels(const NodeTrace& node, Kernels& kernels);

struct CollectiveCall {
  Moment moment;
  int64_t start_ns = 0, end_ns = 0;
  int32_t thread_id = 0;
  auto operator<=>(const CollectiveCall& other) const {
    return std::tie(thread_id, start_ns) <=> std::tie(other.thread_id, other.start_ns);
  }
};
using CollectiveCalls = util::SpilledSort<CollectiveCall>;

// Adds the calls' moments, with the end of the last kernel that each launched.
Status add_with_ends(const NodeTrace& node, CollectiveCalls& calls, Kernels& kernels, Moments& moments);

}  // namespace mlrun::nodes
