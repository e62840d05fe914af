// SPDX-License-Identifier: Apache-2.0
// The rows of the summary_* tables: a name for every column, once, for writing and for reading. A visitor is called
// with the name and the field of each column in order; runner/trace/TABLES.md describes them. A column added
// after the table's first release uses visitor.later(): older traces lack it, and can still be reported. Rows whose
// JSON has the same names are shown by the list, too (report/json/json_row.h).
#pragma once

#include <cstdint>
#include <string>

#include "runner/summary/names.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

struct ValueRow {
  std::string name;
  int64_t value = 0;
  std::string unit;
};
struct WaitRow {
  int32_t proc_id = 0;
  WaitSummary wait;
};
struct HeapRow {
  int32_t proc_id = 0;
  HeapLibrary library;
};
struct AccessRow {
  Direction direction = Direction::kRead;
  std::string pattern;
  AccessPattern::Count count;
};
struct TimeRow {
  int64_t ts_ns = 0;
  TimeBin bin;
};

inline void visit_totals(auto& visitor, auto& totals, const std::string& prefix = {}) {
  visitor(prefix + "calls", totals.calls);
  visitor(prefix + "errors", totals.errors);
  visitor(prefix + "read_calls", totals.read_calls);
  visitor(prefix + "write_calls", totals.write_calls);
  visitor(prefix + "metadata_calls", totals.metadata_calls);
  visitor(prefix + "bytes_read", totals.bytes_read);
  visitor(prefix + "bytes_written", totals.bytes_written);
  visitor(prefix + "time_ns", totals.time_ns);
}

inline auto column_text(Group group) { return group_name(group); }
inline auto column_text(Direction direction) { return direction_name(direction); }
inline auto column_text(SiteKind kind) { return site_kind_name(kind); }

// `none`, or an empty text, means unknown: null in JSON. `is_later`: older traces lack it.
inline void visit_known(auto& visitor, const std::string& name, auto& value, int none = 0, bool is_later = false) {
  if constexpr (requires { visitor.known(name, value, none); }) {
    visitor.known(name, value, none);
  } else {
    is_later ? visitor.later(name, value) : visitor(name, value);
  }
}

template <typename Row>
struct Columns;

template <>
struct Columns<ValueRow> {
  static constexpr const char* kTable = "summary_value";
  static void visit(auto& visitor, auto& row) {
    visitor("name", row.name);
    visitor("value", row.value);
    visitor("unit", row.unit);
  }
};

template <>
struct Columns<ProcessSummary> {
  static constexpr const char* kTable = "summary_process";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("parent_proc_id", row.parent_proc_id);
    visitor("pid", row.pid);
    visitor("rank", row.rank);
    visitor("role", row.role);
    visitor("command", row.command);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
    visit_totals(visitor, row.totals[size_t(Group::kFiles)]);
    visit_totals(visitor, row.totals[size_t(Group::kChannels)], "channel_");
    visit_totals(visitor, row.totals[size_t(Group::kOther)], "other_");
    visit_totals(visitor, row.totals[size_t(Group::kWaits)], "wait_");
    visitor("recorded_allocations", row.recorded_allocations);
    visitor("counted_allocations", row.counted_allocations);
    visitor("heap_peak_ts", row.heap_peak.ts_ns);
    visitor("heap_peak_recorded", row.heap_peak.recorded_bytes);
    visitor("heap_peak_counted", row.heap_peak.counted_bytes);
    visitor.later("mapped_peak_ts", row.mapped_peak.ts_ns);
    visitor.later("mapped_peak", row.mapped_peak.bytes);
    visitor.later("mapped_noreserve_peak", row.mapped_peak.noreserve_bytes);
    visitor.later_optional("mapped_peak_exe", row.mapped_peak.exe);
    visitor.later_optional("ended", row.end);
  }
};

template <>
struct Columns<WaitRow> {
  static constexpr const char* kTable = "summary_wait";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("number", row.wait.func);
    visitor("func", row.wait.name);
    visitor("calls", row.wait.calls);
    visitor("time_ns", row.wait.time_ns);
  }
};

template <>
struct Columns<HeapRow> {
  static constexpr const char* kTable = "summary_heap";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("library_id", row.library.library);
    visitor("library", row.library.name);
    visitor("live_bytes", row.library.live_bytes);
  }
};

template <>
struct Columns<FileSummary> {
  static constexpr const char* kTable = "summary_file";
  static void visit(auto& visitor, auto& row) {
    visitor("file_id", row.file_id);
    visitor("path", row.path);
    visitor("file_system", row.file_system);
    visitor("mount", row.mount);
    visitor("kind", row.kind);
    visit_totals(visitor, row.totals);
    visitor.later("missing_bytes", row.misses.missing_bytes);
    visitor.later("ahead_bytes", row.misses.ahead_bytes);
  }
};

template <>
struct Columns<DirectorySummary> {
  static constexpr const char* kTable = "summary_directory";
  static void visit(auto& visitor, auto& row) {
    visitor("path", row.path);
    visitor("file_system", row.file_system);
    visitor("mount", row.mount);
    visitor("files", row.files);
    visit_totals(visitor, row.totals);
    visitor.later("missing_bytes", row.misses.missing_bytes);
    visitor.later("ahead_bytes", row.misses.ahead_bytes);
  }
};

// min, max and the buckets of summary_latency restore the histogram; the quantiles are for other readers.
struct FuncRow {
  FuncSummary func;
  int64_t min_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, max_ns = 0;
};

template <>
struct Columns<FuncRow> {
  static constexpr const char* kTable = "summary_func";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func.func);
    visitor("func", row.func.name);
    visitor("class", row.func.call_class);
    visitor("call_group", row.func.group);
    visitor("calls", row.func.calls);
    visitor("errors", row.func.errors);
    visitor("bytes", row.func.bytes);
    visitor("time_ns", row.func.time_ns);
    visitor("min_ns", row.min_ns);
    visitor("p50_ns", row.p50_ns);
    visitor("p95_ns", row.p95_ns);
    visitor("p99_ns", row.p99_ns);
    visitor("max_ns", row.max_ns);
  }
};

template <>
struct Columns<ErrorSummary> {
  static constexpr const char* kTable = "summary_error";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func);
    visitor("func", row.name);
    visitor("err", row.err);
    visitor("calls", row.calls);
  }
};

template <>
struct Columns<SiteSummary> {
  static constexpr const char* kTable = "summary_site";
  static void visit(auto& visitor, auto& row) {
    visitor("kind", row.kind);
    visitor("function", row.function);
    visit_known(visitor, "library", row.library);
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
  }
};

template <>
struct Columns<SizeBucket> {
  static constexpr const char* kTable = "summary_size";
  static void visit(auto& visitor, auto& row) {
    visitor("direction", row.direction);
    visitor("low_bytes", row.low_bytes);
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
  }
};

template <>
struct Columns<AccessRow> {
  static constexpr const char* kTable = "summary_access";
  static void visit(auto& visitor, auto& row) {
    visitor("direction", row.direction);
    visitor("pattern", row.pattern);
    visitor("calls", row.count.calls);
    visitor("bytes", row.count.bytes);
  }
};

template <>
struct Columns<MarkSummary> {
  static constexpr const char* kTable = "summary_mark";
  static void visit(auto& visitor, auto& row) {
    visitor("domain", row.domain);
    visitor("name", row.name);
    visitor("count", row.count);
    visit_known(visitor, "time_ns", row.time_ns, -1);
    visit_known(visitor, "max_ns", row.max_ns, -1);
  }
};

template <>
struct Columns<CollectiveSummary> {
  static constexpr const char* kTable = "summary_collective";
  static void visit(auto& visitor, auto& row) {
    visitor("communicator", row.communicator);
    visitor("operation", row.operation);
    visitor("count", row.count);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
    visitor("max_ns", row.max_ns);
    visitor("ranks", row.ranks);
    visitor("compared", row.compared);
    visitor("skew_p50_ns", row.skew_p50_ns);
    visitor("skew_p99_ns", row.skew_p99_ns);
    visitor("skew_max_ns", row.skew_max_ns);
    visitor("last_proc_id", row.last_proc_id);
    visitor("last_times", row.last_times);
  }
};

template <>
struct Columns<GpuSummary> {
  static constexpr const char* kTable = "summary_gpu";
  static void visit(auto& visitor, auto& row) {
    visitor("gpu_id", row.gpu_id);
    visitor("kind", row.kind);
    visitor("name", row.name);
    visitor("uuid", row.uuid);
    visitor("nvml_index", row.index);
    visitor("memory_bytes", row.memory_bytes);
    visitor("looks", row.looks);
    visitor("observed_ns", row.observed_ns);
    visitor("busy_ppm", row.busy_ppm);
    visitor("memory_busy_ppm", row.memory_busy_ppm);
    visitor("sm_active_ppm", row.sm_active_ppm);
    visitor("tensor_ppm", row.tensor_ppm);
    visitor("dram_ppm", row.dram_ppm);
    visitor("fb_peak_bytes", row.fb_peak_bytes);
    visitor("power_mean_mw", row.power_mean_mw);
    visitor("power_peak_mw", row.power_peak_mw);
    visitor("energy_mj", row.energy_mj);
    visitor("temperature_peak_c", row.temperature_peak_c);
    visitor("throttled_ns", row.throttled_ns);
    visitor("pcie_rx_bytes", row.pcie_rx_bytes);
    visitor("pcie_tx_bytes", row.pcie_tx_bytes);
    visitor("nvlink_rx_bytes", row.nvlink_rx_bytes);
    visitor("nvlink_tx_bytes", row.nvlink_tx_bytes);
  }
};

template <>
struct Columns<SplitSummary> {
  static constexpr const char* kTable = "summary_split";
  static void visit(auto& visitor, auto& row) {
    visitor("scope", row.scope);
    visit_known(visitor, "id", row.id, 0);
    visitor("name", row.name);
    visitor("calls", row.calls);
    visitor("time_ns", row.time_ns);
    visitor("own_ns", row.split.own_ns);
    visitor("runq_ns", row.split.runq_ns);
    visitor("vfs_ns", row.split.vfs_ns);
    visitor("queue_ns", row.split.queue_ns);
    visitor("device_ns", row.split.device_ns);
    visitor("device_shared_ns", row.split.device_shared_ns);
    visitor("remote_ns", row.split.remote_ns);
    visitor("wait_ns", row.split.wait_ns);
  }
};

template <>
struct Columns<TimeRow> {
  static constexpr const char* kTable = "summary_time";
  static void visit(auto& visitor, auto& row) {
    visitor("ts", row.ts_ns);
    visitor("bytes_read", row.bin.bytes_read);
    visitor("bytes_written", row.bin.bytes_written);
    visitor("time_ns", row.bin.time_ns);
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
    visitor("file_id", row.file_id);
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
struct Columns<PythonSummary> {
  static constexpr const char* kTable = "summary_python";
  static void visit(auto& visitor, auto& row) {
    visitor("role", row.role);
    visitor("processes", row.processes);
    visitor("function", row.function);
    visitor("source", row.source);
    visitor("line", row.line);
    visitor("looks", row.looks);
    visitor("running", row.running);
    visitor.later("time_ns", row.time_ns);
    visitor.later("running_ns", row.running_ns);
    visitor.later("waiting", row.waiting);
    visitor.later("is_driver", row.is_driver);
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

}  // namespace mlrun::summary
