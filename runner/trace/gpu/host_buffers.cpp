// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/host_buffers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runner/events/host_pages.h"

namespace mlrun::trace {

namespace {

constexpr double kMostAgree = 0.95;
constexpr uint64_t kHostBytesMax = uint64_t{1} << 47;

struct NodeWeights {
  std::array<uint64_t, MLRUN_HOST_NODES_MAX> of_node{};
  uint64_t known = 0, all = 0;
};

// Bytes of the buffer's sampled pages (those whose node the library asked the kernel for), by node.
NodeWeights weigh_nodes(const decode::GpuHostEvent& event, uint64_t address) {
  NodeWeights weights;
  const mlrun_host_range range{address, event.bytes, event.phase};
  for (uint32_t i = 0; i < event.asked; ++i) {
    const uint64_t bytes = mlrun_host_page_bytes(&range, mlrun_host_page(&range, i, event.asked));
    weights.all += bytes;
    if (event.nodes[i] >= MLRUN_HOST_NODES_MAX) continue;
    weights.known += bytes;
    weights.of_node[event.nodes[i]] += bytes;
  }
  return weights;
}

int64_t part_of_bytes(int64_t bytes, uint64_t part, uint64_t all) {
  if (part == all) return bytes;
  return std::llround(static_cast<double>(bytes) * (static_cast<double>(part) / static_cast<double>(all)));
}

}  // namespace

HostBuffers::HostBuffers(const std::vector<model::GpuRow>& gpus) {
  for (const model::GpuRow& gpu : gpus) node_of_gpu_[gpu.gpu_id] = gpu.numa_node;
}

// A call in progress at the end of a slice comes twice: with that slice and with the next one.
void HostBuffers::take(const std::vector<GpuHostCall>& calls) {
  recent_.clear();
  for (const GpuHostCall& call : calls) {
    const uint32_t number = ++last_number_;
    if (number == 0) continue;  // overflow: 0 means "no call"
    if (calls_.size() < kCallsKept) calls_.resize(std::min(kCallsKept, std::max<size_t>(2 * calls_.size(), 1024)));
    calls_[number % kCallsKept] = call;
    recent_[call.thread_id][call.start_ns] = number;
  }
}

uint32_t HostBuffers::find(int32_t thread_id, int64_t ts_ns) const {
  const auto thread = recent_.find(thread_id);
  if (thread == recent_.end()) return 0;
  const auto next = thread->second.upper_bound(ts_ns);
  if (next == thread->second.begin()) return 0;
  const uint32_t number = std::prev(next)->second;
  return ts_ns <= call(number).end_ns ? number : 0;
}

void HostBuffers::fill(model::GpuWorkRow& copy, uint32_t number) const {
  const bool is_recent = number != 0 && last_number_ - number < kCallsKept;
  if (!is_recent || (!model::is_from_host(copy.detail) && !model::is_to_host(copy.detail))) return;
  const decode::GpuHostEvent& event = call(number).event;
  copy.host.address = model::is_to_host(copy.detail) ? event.target : event.source;
  copy.host.call_ns = call(number).end_ns;
  copy.host.error = event.error;
  const auto gpu = node_of_gpu_.find(copy.gpu_id);
  if (gpu != node_of_gpu_.end()) copy.host.gpu_node = gpu->second;
  const mlrun_host_range range{copy.host.address, event.bytes, event.phase};
  const bool are_its_pages = event.of_target == model::is_to_host(copy.detail) && event.bytes - 1 < kHostBytesMax &&
                             copy.host.address < UINT64_MAX - kHostBytesMax && event.asked != 0 &&
                             mlrun_host_pages_asked(&range) == event.asked;
  if (!are_its_pages) return;
  const NodeWeights weights = weigh_nodes(event, copy.host.address);
  if (weights.known == 0) return;
  const auto most = std::max_element(weights.of_node.begin(), weights.of_node.end());
  if (static_cast<double>(*most) >= kMostAgree * static_cast<double>(weights.all)) {
    copy.host.node = static_cast<int32_t>(most - weights.of_node.begin());
  }
  copy.host.known_bytes = part_of_bytes(copy.bytes, weights.known, weights.all);
  if (copy.host.gpu_node < 0 || copy.host.gpu_node >= MLRUN_HOST_NODES_MAX) return;
  const uint64_t near = weights.of_node[static_cast<size_t>(copy.host.gpu_node)];
  copy.host.misplaced_bytes = part_of_bytes(copy.bytes, weights.known - near, weights.all);
}

}  // namespace mlrun::trace
