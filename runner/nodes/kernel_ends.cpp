// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/kernel_ends.h"

#include <algorithm>
#include <set>
#include <vector>

#include "runner/nodes/row_batches.h"

namespace mlrun::nodes {

namespace {

// A call of CUDA.
struct Launch {
  int64_t correlation = 0, at_ns = 0;
  int32_t proc_id = 0, thread_id = 0;
  auto operator<=>(const Launch& other) const {
    return std::tie(proc_id, correlation) <=> std::tie(other.proc_id, other.correlation);
  }
};
using Launches = util::SpilledSort<Launch>;

// The kernel of a call of CUDA.
struct LaunchedEnd {
  int64_t at_ns = 0, end_ns = 0;
  int32_t thread_id = 0;
  auto operator<=>(const LaunchedEnd& other) const {
    return std::tie(thread_id, at_ns) <=> std::tie(other.thread_id, other.at_ns);
  }
};
using LaunchedEnds = util::SpilledSort<LaunchedEnd>;

// Hashes of the kernels' launches. They rule out nearly all CUDA calls that launched none of the kernels: a training makes hundreds of CUDA
// calls for each collective, and calls that are ruled out need not be sorted.
class MayLaunch {
 public:
  void add(const Kernel& kernel) { bits_[place(kernel.proc_id, kernel.correlation)] = true; }
  [[nodiscard]] bool operator()(int64_t proc_id, int64_t correlation) const {
    return bits_[place(proc_id, correlation)];
  }

 private:
  static constexpr int kBits = 26;  // 8 MiB
  static size_t place(int64_t proc_id, int64_t correlation) {
    const uint64_t mixed =
        (static_cast<uint64_t>(proc_id) << 40 ^ static_cast<uint64_t>(correlation)) * UINT64_C(0x9e3779b97f4a7c15);
    return static_cast<size_t>(mixed >> (64 - kBits));
  }
  std::vector<bool> bits_ = std::vector<bool>(size_t{1} << kBits);
};

Status read_launches(const NodeTrace& node, Kernels& kernels, Launches& launches) {
  MayLaunch may_launch;
  auto all = kernels.pass();
  for (const Kernel* one = all.next(); one != nullptr; one = all.next()) may_launch.add(*one);
  const tables::TableQuery of_calls{.columns = {"ts", "proc_id", "thread_id", "correlation_id"}};
  return for_each_batch_unless_stopped(node.folder, "gpu_api", of_calls, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers ts(batch, "ts"), proc(batch, "proc_id"), thread(batch, "thread_id"),
        id(batch, "correlation_id");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (!may_launch(proc[i], id[i])) continue;
      launches.add({id[i], ts[i], static_cast<int32_t>(proc[i]), static_cast<int32_t>(thread[i])});
    }
  });
}

void find_ends(Launches& launches, Kernels& kernels, LaunchedEnds& ends) {
  auto of_kernels = kernels.pass();
  const Kernel* kernel = of_kernels.next();
  auto of_launches = launches.pass();
  for (const Launch* launch = of_launches.next(); launch != nullptr; launch = of_launches.next()) {
    const Kernel wanted{launch->correlation, 0, launch->proc_id};
    while (kernel != nullptr && *kernel < wanted) kernel = of_kernels.next();
    for (; kernel != nullptr && (*kernel <=> wanted) == 0; kernel = of_kernels.next())
      ends.add({launch->at_ns, kernel->end_ns, launch->thread_id});
  }
}

}  // namespace

Status read_kernels(const NodeTrace& node, Kernels& kernels) {
  for (const char* table : {"name", "gpu_kernel", "gpu_api"}) {
    if (!tables::has_table(node.folder + "/tables", table)) return {};
  }
  std::set<int64_t> names;
  Status named = for_each_batch_unless_stopped(node.folder, "name", {}, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers id(batch, "name_id");
    const tables::Texts name(batch, "name");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (name[i].starts_with("nccl") && name[i].find("Kernel") != std::string_view::npos) names.insert(id[i]);
    }
  });
  if (!named || names.empty()) return named;
  const tables::TableQuery of_kernels{.columns = {"ts", "dur", "proc_id", "correlation_id", "name_id"}};
  return for_each_batch_unless_stopped(node.folder, "gpu_kernel", of_kernels, [&](const arrow::RecordBatch& batch) {
    const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), proc(batch, "proc_id"), id(batch, "correlation_id"),
        name(batch, "name_id");
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      if (names.contains(name[i])) kernels.add({id[i], ts[i] + dur[i], static_cast<int32_t>(proc[i])});
    }
  });
}

Status add_with_ends(const NodeTrace& node, CollectiveCalls& calls, Kernels& kernels, Moments& moments) {
  LaunchedEnds ends;
  {
    Launches launches;
    if (Status read = read_launches(node, kernels, launches); !read) return read;
    find_ends(launches, kernels, ends);
  }
  auto of_ends = ends.pass();
  const LaunchedEnd* end = of_ends.next();
  auto of_calls = calls.pass();
  for (const CollectiveCall* call = of_calls.next(); call != nullptr;) {
    const CollectiveCall* following = of_calls.next();
    Moment moment = call->moment;
    const auto is_before = [&](const LaunchedEnd& one, const CollectiveCall& other) {
      return std::tie(one.thread_id, one.at_ns) < std::tie(other.thread_id, other.start_ns);
    };
    while (end != nullptr && is_before(*end, *call)) end = of_ends.next();
    for (; end != nullptr && (following == nullptr || is_before(*end, *following)); end = of_ends.next()) {
      const bool is_in_call = end->thread_id == call->thread_id && end->at_ns <= call->end_ns;
      if (is_in_call) moment.end_ns = std::max(moment.end_ns, end->end_ns);
    }
    moments.add(moment);
    call = following;
  }
  return {};
}

}  // namespace mlrun::nodes
