// SPDX-License-Identifier: Apache-2.0
// The rows of the summary_* tables; runner/trace/TABLES.md describes them. Those about GPUs: gpu_rows.h.
#pragma once

#include <cstdint>
#include <string>

#include "runner/summary/names.h"
#include "runner/summary/summary.h"
#include "runner/summary/tables/columns.h"

namespace mlrun::summary {

struct WaitRow {
  int32_t proc_id = 0;
  WaitSummary wait;
};
struct HeapRow {
  int32_t proc_id = 0;
  HeapLibrary library;
};
struct FileAccessRow {
  Direction direction = Direction::kRead;
  std::string pattern;
  FileAccessPattern::Count count;
};
struct EarlierFileAccessRow : FileAccessRow {};  // in traces of commits before 2026-11-28
struct TimeRow {
  int64_t ts_ns = 0;
  TimeBin bin;
};

template <>
struct Columns<Totals> {
  static void visit(auto& visitor, auto& totals, const std::string& prefix = {}) {
    visitor(prefix + "calls", totals.calls);
    visitor(prefix + "errors", totals.errors);
    visitor(prefix + "read_calls", totals.read_calls);
    visitor(prefix + "write_calls", totals.write_calls);
    visitor(prefix + "metadata_calls", totals.metadata_calls);
    visitor(prefix + "bytes_read", totals.bytes_read);
    visitor(prefix + "bytes_written", totals.bytes_written);
    visitor(prefix + "time_ns", totals.time_ns);
  }
};

// Columns that are an object in the JSON; in the table their names begin with `prefix`.
template <typename Visitor>
void visit_totals(Visitor& visitor, auto& totals, const char* member, const char* prefix = "") {
  visit_object(visitor, member,
               [&](auto& object) { Columns<Totals>::visit(object, totals, MakesJson<Visitor> ? "" : prefix); });
}

inline auto column_text(Group group) { return group_name(group); }
inline auto column_text(Direction direction) { return direction_name(direction); }
inline auto column_text(SiteKind kind) { return site_kind_name(kind); }

template <>
struct Columns<ProcessSummary> {
  static constexpr const char* kTable = "summary_process";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visit_known(visitor, "parent_proc_id", row.parent_proc_id);
    visitor("pid", row.pid);
    visit_known(visitor, "rank", row.rank, -1);
    visitor("role", row.role);
    visitor("command", row.command);
    visit_places(visitor, {"ended"});
    visitor(name_for(visitor, "first", "first_ns"), row.first_ns);
    visitor(name_for(visitor, "last", "last_ns"), row.last_ns);
    visit_totals(visitor, row.totals[size_t(Group::kFiles)], "files");
    visit_totals(visitor, row.totals[size_t(Group::kChannels)], "channels", "channel_");
    visit_totals(visitor, row.totals[size_t(Group::kOther)], "other", "other_");
    visit_totals(visitor, row.totals[size_t(Group::kWaits)], "waits", "wait_");
    visit_rows(visitor, "waited_in", row.waits);
    visit_object(visitor, "heap", [&](auto& heap) { visit_heap(heap, row); });
    visitor.later_optional(name_for(visitor, "mapped_peak_exe"), row.mapped_peak.exe);
    visitor.later_optional("ended", row.end);
  }

 private:
  static void visit_heap(auto& heap, auto& row) {
    visit_places(heap, {"peak_bytes", "peak_recorded_bytes", "peak_counted_bytes", "peak_ts_ns"});
    visit_shown(heap, "peak_bytes", [&] { return row.heap_peak.bytes(); });
    heap("recorded_allocations", row.recorded_allocations);
    heap("counted_allocations", row.counted_allocations);
    visit_known(heap, name_for(heap, "heap_peak_ts", "peak_ts_ns"), row.heap_peak.ts_ns);
    heap(name_for(heap, "heap_peak_recorded", "peak_recorded_bytes"), row.heap_peak.recorded_bytes);
    heap(name_for(heap, "heap_peak_counted", "peak_counted_bytes"), row.heap_peak.counted_bytes);
    visit_rows(heap, "live_at_peak", row.heap_libraries);
    visit_places(heap, {"mapped_peak_bytes"});
    visit_known(heap, name_for(heap, "mapped_peak_ts", "mapped_peak_ts_ns"), row.mapped_peak.ts_ns, 0, true);
    visit_known(heap, name_for(heap, "mapped_peak", "mapped_peak_bytes"), row.mapped_peak.bytes, -1, true);
    visit_known(heap, name_for(heap, "mapped_noreserve_peak", "mapped_noreserve_peak_bytes"),
                row.mapped_peak.noreserve_bytes, -1, true);
  }
};

template <>
struct Columns<WaitSummary> {
  static void visit(auto& visitor, auto& row) {
    visitor(name_for(visitor, "number"), row.func);
    visitor("func", row.name);
    visitor("calls", row.calls);
    visitor("time_ns", row.time_ns);
  }
};

template <>
struct Columns<WaitRow> {
  static constexpr const char* kTable = "summary_wait";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    Columns<WaitSummary>::visit(visitor, row.wait);
  }
};

template <>
struct Columns<HeapLibrary> {
  static void visit(auto& visitor, auto& row) {
    visitor(name_for(visitor, "library_id"), row.library);
    visitor(name_for(visitor, "library"), row.name);
    visit_shown(visitor, "library", [&] { return row.library == 0 ? std::optional<std::string>() : row.name; });
    visitor("live_bytes", row.live_bytes);
  }
};

template <>
struct Columns<HeapRow> {
  static constexpr const char* kTable = "summary_heap";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    Columns<HeapLibrary>::visit(visitor, row.library);
  }
};

template <>
struct Columns<FileSummary> {
  static constexpr const char* kTable = "summary_file";
  static void visit(auto& visitor, auto& row) {
    visit_known(visitor, "file_id", row.file_id);
    visitor("path", row.path);
    visitor("file_system", row.file_system);
    visitor("mount", row.mount);
    visitor("kind", row.kind);
    visit_totals(visitor, row.totals, "totals");
    visit_known(visitor, "missing_bytes", row.misses.missing_bytes, -1, true);
    visit_known(visitor, "ahead_bytes", row.misses.ahead_bytes, -1, true);
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
    visit_totals(visitor, row.totals, "totals");
    visit_known(visitor, "missing_bytes", row.misses.missing_bytes, -1, true);
    visit_known(visitor, "ahead_bytes", row.misses.ahead_bytes, -1, true);
  }
};

// min, max and the buckets of summary_latency restore the histogram; the quantiles are stored for readers outside of mlrun.
struct FuncRow {
  FuncRow() = default;
  explicit FuncRow(const FuncSummary& of)
      : func(of),
        min_ns(of.latency.min()),
        p50_ns(of.latency.quantile(0.5)),
        p95_ns(of.latency.quantile(0.95)),
        p99_ns(of.latency.quantile(0.99)),
        max_ns(of.latency.max()) {}

  FuncSummary func;
  int64_t min_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, max_ns = 0;
};

template <>
struct Columns<FuncRow> {
  static constexpr const char* kTable = "summary_func";
  static void visit(auto& visitor, auto& row) {
    visitor(name_for(visitor, "number"), row.func.func);
    visitor("func", row.func.name);
    visitor("class", row.func.call_class);
    visitor(name_for(visitor, "call_group", "group"), row.func.group);
    visitor("calls", row.func.calls);
    visitor("errors", row.func.errors);
    visitor("bytes", row.func.bytes);
    visitor("time_ns", row.func.time_ns);
    visit_object(visitor, "latency_ns", [&](auto& latency) {
      latency(name_for(latency, "min_ns", "min"), row.min_ns);
      latency(name_for(latency, "p50_ns", "p50"), row.p50_ns);
      latency(name_for(latency, "p95_ns", "p95"), row.p95_ns);
      latency(name_for(latency, "p99_ns", "p99"), row.p99_ns);
      latency(name_for(latency, "max_ns", "max"), row.max_ns);
    });
  }
};

template <>
struct Columns<ErrorSummary> {
  static constexpr const char* kTable = "summary_error";
  static void visit(auto& visitor, auto& row) {
    visitor(name_for(visitor, "number"), row.func);
    visitor("func", row.name);
    visitor(name_for(visitor, "err", "errno"), row.err);
    visit_shown(visitor, "name", [&] { return errno_name(row.err); });
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
    visit_shown(visitor, "high_bytes", [&] { return row.high_bytes(); });
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
  }
};

template <>
struct Columns<FileAccessPattern::Count> {
  static void visit(auto& visitor, auto& row) {
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
  }
};

template <typename Pattern, typename Visit>
void visit_patterns(Pattern& pattern, Visit visit) {
  visit("sequential", pattern.sequential);
  visit("forward", pattern.forward);
  visit("backward", pattern.backward);
  visit("unknown", pattern.unknown);
}

template <>
struct Columns<FileAccessRow> {
  static constexpr const char* kTable = "summary_file_access";
  static void visit(auto& visitor, auto& row) {
    visitor("direction", row.direction);
    visitor("pattern", row.pattern);
    Columns<FileAccessPattern::Count>::visit(visitor, row.count);
  }
};
template <>
struct Columns<EarlierFileAccessRow> : Columns<FileAccessRow> {
  static constexpr const char* kTable = "summary_access";
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
    visit_known(visitor, "communicator", row.communicator);
    visitor("operation", row.operation);
    visitor("count", row.count);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
    visitor("max_ns", row.max_ns);
    visit_known(visitor, "ranks", row.ranks, -1);
    visitor("compared", row.compared);
    visit_object(visitor, "start_skew_ns", [&](auto& skew) {
      visit_known(skew, name_for(skew, "skew_p50_ns", "p50"), row.skew_p50_ns, -1);
      visit_known(skew, name_for(skew, "skew_p99_ns", "p99"), row.skew_p99_ns, -1);
      visit_known(skew, name_for(skew, "skew_max_ns", "max"), row.skew_max_ns, -1);
    });
    visit_known(visitor, "last_proc_id", row.last_proc_id);
    visitor("last_times", row.last_times);
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
struct Columns<TimeBin> {
  static void visit(auto& visitor, auto& row) {
    visitor("bytes_read", row.bytes_read);
    visitor("bytes_written", row.bytes_written);
    visitor("time_ns", row.time_ns);
  }
};

template <>
struct Columns<TimeRow> {
  static constexpr const char* kTable = "summary_time";
  static void visit(auto& visitor, auto& row) {
    visitor("ts", row.ts_ns);
    Columns<TimeBin>::visit(visitor, row.bin);
  }
};

template <>
struct Columns<PythonSummary> {
  static constexpr const char* kTable = "summary_python";
  static void visit(auto& visitor, auto& row) {
    visitor("role", row.role);
    visitor("processes", row.processes);
    visit_known(visitor, "function", row.function);
    visit_known(visitor, "source", row.source);
    visit_known(visitor, "line", row.line);
    visitor("samples", row.samples);
    visitor("running", row.running);
    visitor.later("time_ns", row.time_ns);
    visitor.later("running_ns", row.running_ns);
    visitor.later("waiting", row.waiting);
    visitor.later(name_for(visitor, "is_driver"), row.is_driver);
    visit_shown(visitor, "driver", [&] { return row.is_driver != 0; });
  }
};

}  // namespace mlrun::summary
