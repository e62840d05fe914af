// SPDX-License-Identifier: Apache-2.0
// The rows of the summary_* tables about GPUs.
#pragma once

#include "runner/summary/summary.h"
#include "runner/summary/tables/columns.h"

namespace mlrun::summary {

template <>
struct Columns<GpuSummary> {
  static constexpr const char* kTable = "summary_gpu";
  static void visit(auto& visitor, auto& row) {
    visitor("gpu_id", row.gpu_id);
    visitor("kind", row.kind);
    visitor("name", row.name);
    visitor("uuid", row.uuid);
    visit_known(visitor, "nvml_index", row.index, -1);
    visit_known(visitor, "memory_bytes", row.memory_bytes, -1);
    visitor("samples", row.samples);
    visitor("observed_ns", row.observed_ns);
    visit_share(visitor, "busy", row.busy_ppm);
    visit_share(visitor, "memory_busy", row.memory_busy_ppm);
    visit_share(visitor, "sm_active", row.sm_active_ppm);
    visit_share(visitor, "tensor", row.tensor_ppm);
    visit_share(visitor, "dram", row.dram_ppm);
    visit_known(visitor, name_for(visitor, "fb_peak_bytes", "memory_peak_bytes"), row.fb_peak_bytes, -1);
    visit_known(visitor, "power_mean_mw", row.power_mean_mw, -1);
    visit_known(visitor, "power_peak_mw", row.power_peak_mw, -1);
    visit_known(visitor, "energy_mj", row.energy_mj, -1);
    visit_known(visitor, "temperature_peak_c", row.temperature_peak_c, -1);
    visit_known(visitor, "throttled_ns", row.throttled_ns, -1);
    visit_known(visitor, "pcie_rx_bytes", row.pcie_rx_bytes, -1);
    visit_known(visitor, "pcie_tx_bytes", row.pcie_tx_bytes, -1);
    visit_known(visitor, "nvlink_rx_bytes", row.nvlink_rx_bytes, -1);
    visit_known(visitor, "nvlink_tx_bytes", row.nvlink_tx_bytes, -1);
  }
};

template <>
struct Columns<GpuWorkSummary> {
  static constexpr const char* kTable = "summary_gpu_work";
  static void visit(auto& visitor, auto& row) {
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visitor("name", row.name);
    visit_known(visitor, "uuid", row.uuid);
    visitor("busy_ns", row.busy_ns);
    visitor("kernels", row.kernels);
    visitor("kernel_ns", row.kernel_ns);
    visitor("copies", row.copies);
    visitor("bytes_in", row.bytes_in);
    visitor("bytes_out", row.bytes_out);
    visitor("bytes_within", row.bytes_within);
    visitor("memsets", row.memsets);
    visitor("copy_ns", row.copy_ns);
    visitor("graphs", row.graphs);
    visitor("graph_ns", row.graph_ns);
  }
};

template <>
struct Columns<GpuFileSummary> {
  static constexpr const char* kTable = "summary_gpu_file";
  static void visit(auto& visitor, auto& row) {
    visitor("func", row.func);
    visitor("calls", row.calls);
    visitor("errors", row.errors);
    visitor("operations", row.operations);
    visitor("bytes", row.bytes);
    visit_known(visitor, "posix_bytes", row.posix_bytes, -1);
    visitor("time_ns", row.time_ns);
  }
};

template <>
struct Columns<TorchMemorySummary> {
  static constexpr const char* kTable = "summary_torch_memory";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visit_known(visitor, "device", row.device, -1);
    visitor("peak_bytes", row.peak_bytes);
    visitor("allocations", row.allocations);
    visitor("allocated_bytes", row.allocated_bytes);
    visitor("releases", row.releases);
    visitor("unmatched_releases", row.unmatched_releases);
    visitor("unseen_releases", row.unseen_releases);
    visitor("kept", row.kept);
    visitor("kept_bytes", row.kept_bytes);
    visitor("not_followed", row.not_followed);
  }
};

template <>
struct Columns<GpuMemorySummary> {
  static constexpr const char* kTable = "summary_gpu_memory";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visitor("memory", row.memory);
    visitor("peak_bytes", row.peak_bytes);
    visitor("allocations", row.allocations);
    visitor("allocated_bytes", row.allocated_bytes);
    visitor("releases", row.releases);
    visitor("unmatched_releases", row.unmatched_releases);
    visitor("unseen_releases", row.unseen_releases);
    visitor("kept", row.kept);
    visitor("kept_bytes", row.kept_bytes);
    visitor("kept_late", row.kept_late);
    visitor("kept_late_bytes", row.kept_late_bytes);
    visitor("not_followed", row.not_followed);
    visit_known(visitor, "context", row.context, 0, true);
    visitor.later("with_context", row.with_context);
    visitor.later("with_context_bytes", row.with_context_bytes);
    visitor.later("at_exit", row.at_exit);
    visitor.later("at_exit_bytes", row.at_exit_bytes);
  }
};

template <>
struct Columns<GpuStackSummary> {
  static constexpr const char* kTable = "summary_gpu_stack";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visitor("memory", row.memory);
    visit_known(visitor, "stack_id", row.stack_id, 0);
    visitor("blocks", row.blocks);
    visitor("bytes", row.bytes);
    visitor("late", row.late);
    visitor("late_bytes", row.late_bytes);
    visit_known(visitor, "frames", row.frames);
  }
};

template <>
struct Columns<GpuMarkSummary> {
  static constexpr const char* kTable = "summary_gpu_mark";
  static void visit(auto& visitor, auto& row) {
    visitor("domain", row.domain);
    visitor("name", row.name);
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visitor("kernels", row.kernels);
    visitor("own_kernels", row.own_kernels);
    visitor("kernel_ns", row.kernel_ns);
    visitor("copies", row.copies);
    visitor("copied_bytes", row.copied_bytes);
    visitor("memsets", row.memsets);
    visitor("graphs", row.graphs);
    visitor("busy_ns", row.busy_ns);
    visitor("idle_ns", row.idle_ns);
  }
};

template <>
struct Columns<GpuIdleSummary> {
  static constexpr const char* kTable = "summary_gpu_idle";
  static void visit(auto& visitor, auto& row) {
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visitor("label", row.label);
    visit_known(visitor, "proc_id", row.proc_id, 0);
    visit_known(visitor, "thread_id", row.thread_id, 0);
    visit_known(visitor, "tid", row.tid, 0, true);
    visitor(name_for(visitor, "file_id"), row.file_id);
    visit_known(visitor, "path", row.path);
    visitor("time_ns", row.time_ns);
    visitor("pieces", row.pieces);
    visit_known(visitor, "python_line", row.python_line, 0, true);
    visitor.later("python_ns", row.python_ns);
    visit_known(visitor, "func", row.func, 0, true);
    visitor.later("func_ns", row.func_ns);
    visitor("own_ns", row.split.own_ns);
    visitor("runq_ns", row.split.runq_ns);
    visitor("vfs_ns", row.split.vfs_ns);
    visitor("queue_ns", row.split.queue_ns);
    visitor("device_ns", row.split.device_ns);
    visitor("remote_ns", row.split.remote_ns);
    visitor("wait_ns", row.split.wait_ns);
  }
};

template <>
struct Columns<GpuKernelSummary> {
  static constexpr const char* kTable = "summary_gpu_kernel";
  static void visit(auto& visitor, auto& row) {
    visitor("name", row.name);
    visitor("count", row.count);
    visitor("time_ns", row.time_ns);
    visitor("max_ns", row.max_ns);
  }
};

template <>
struct Columns<GpuHostSummary> {
  static constexpr const char* kTable = "summary_gpu_host";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visit_known(visitor, "gpu_id", row.gpu_id, 0);
    visit_known(visitor, "gpu_node", row.gpu_node, -1);
    visitor("memory", row.memory);
    visitor("copies", row.copies);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
    visitor("addressed_bytes", row.addressed_bytes);
    visitor("known_bytes", row.known_bytes);
    visitor("misplaced_bytes", row.misplaced_bytes);
    visitor("misplaced_ns", row.misplaced_ns);
    visit_known(visitor, "error", row.error, 0);
    visit_known(visitor, "stack_id", row.stack_id, 0);
    visit_known(visitor, "allocated_by", row.allocated_by);
  }
};

}  // namespace mlrun::summary
