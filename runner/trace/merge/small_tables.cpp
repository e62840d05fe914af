// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/small_tables.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/events/record.h"
#include "runner/summary/tables/row_writer.h"
#include "runner/summary/tables/small_rows.h"
#include "runner/trace/files/socket_ends.h"
#include "runner/trace/marks/mark_table.h"
#include "runner/trace/merge/stack_tables.h"
#include "runner/trace/samples/placement_rows.h"
#include "runner/util/file_io.h"

namespace mlrun::trace {

namespace {

// Name of a launcher by number (MLRUN_LAUNCHER_...).
constexpr std::string_view launcher_name(uint32_t launcher) {
#define LAUNCHER(number, symbol, name) \
  if (launcher == (number)) return name;
#include "runner/events/launchers.def"
  return "";
}

std::vector<model::SumBucketRow> buckets_of(const std::vector<model::SumRow>& sums) {
  std::vector<model::SumBucketRow> rows;
  for (const model::SumRow& sum : sums) {
    for (const model::SumBucket& bucket : sum.times) rows.push_back({sum.sum_id, "duration", bucket});
    for (const model::SumBucket& bucket : sum.sizes) rows.push_back({sum.sum_id, "size", bucket});
  }
  return rows;
}

}  // namespace

}  // namespace mlrun::trace

namespace mlrun::summary {

template <>
struct Columns<model::ProcessRow> {
  static constexpr const char* kTable = "process";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("pid", row.pid);
    visitor("ns_pid", row.ns_pid);
    visitor.optional("ppid", row.ppid, 0);
    visitor.optional("parent_proc_id", row.parent_proc_id, 0);
    visitor.optional("pid_namespace", row.pid_namespace, 0);
    visitor.optional("start_ticks", row.start_ticks, 0);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
    visitor.optional("uid", row.uid, -1);
    visitor.optional("rank", row.rank, -1);
    visitor.optional("local_rank", row.local_rank, -1);
    visitor.optional("world_size", row.world_size, -1);
    visitor.later_optional("launcher", trace::launcher_name(row.launcher));
    visitor.optional("cgroup", row.cgroup);
    visitor.optional("command", row.command);
    visitor.optional("role", row.role);
    visitor("forked", row.forked);
    visitor.optional("ended", row.end);
    visitor.optional("wait_status", row.exit_status, -1);
    visitor.optional("kernel_rchar", row.kernel_rchar, -1);
    visitor.optional("kernel_wchar", row.kernel_wchar, -1);
    visitor.optional("kernel_syscr", row.kernel_syscr, -1);
    visitor.optional("kernel_syscw", row.kernel_syscw, -1);
  }
};

template <>
struct Columns<model::ImageRow> {
  static constexpr const char* kTable = "image";
  static void visit(auto& visitor, auto& row) {
    visitor("image_id", row.image_id);
    visitor("proc_id", row.proc_id);
    visitor("first", row.start_ns);
    visitor.optional("exe", row.exe);
    visitor.optional("arguments", row.arguments);
    visitor.optional("cwd", row.cwd);
    visitor.optional("allocator", row.allocator);
  }
};

template <>
struct Columns<model::ThreadRow> {
  static constexpr const char* kTable = "thread";
  static void visit(auto& visitor, auto& row) {
    visitor("thread_id", row.thread_id);
    visitor("proc_id", row.proc_id);
    visitor("image_id", row.image_id);
    visitor("tid", row.tid);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
    visitor.optional("comm", row.comm);
  }
};

template <>
struct Columns<model::FileRow> {
  static constexpr const char* kTable = "file";
  static void visit(auto& visitor, auto& row) {
    const bool opened = row.dev != 0 || row.ino != 0;
    visitor("file_id", row.file_id, tables::kDelta);
    visitor("path", row.path);
    visitor.optional("raw_path", row.raw_path);
    visitor.optional_bytes("path_bytes", row.path_bytes);
    visitor.optional("dev", tables::value_if(opened, row.dev));
    visitor.optional("ino", tables::value_if(opened, row.ino));
    visitor.optional("file_system", row.file_system);
    visitor.optional("mount", row.mount);
    visitor("kind", row.kind);
    const trace::SocketEnds ends = trace::unpack(row.address);
    visitor.optional("address", ends.other);
    visitor.later_optional("own_address", ends.own);
  }
};

template <>
struct Columns<model::NameRow> {
  static constexpr const char* kTable = "name";
  static void visit(auto& visitor, auto& row) {
    visitor("name_id", row.name_id);
    visitor("name", row.text);
  }
};

// A row represents many calls: a column is null if its value differs among them.
template <>
struct Columns<model::SumRow> {
  static constexpr const char* kTable = "sum";
  static void visit(auto& visitor, auto& row) {
    visitor("sum_id", row.sum_id, tables::kDelta);
    visitor("proc_id", row.call.origin.proc_id);
    visitor.optional("phase_id", row.phase_id, 0);
    visitor.optional("stretch", row.stretch, -1);
    visitor("func", row.func);
    visitor.optional("file_id", row.call.file_id, 0);
    visitor.optional("file2_id", row.call.file2_id, 0);
    visitor("err", row.call.err);
    visitor.optional("stack_id", row.call.stack_id, 0);
    visitor.optional("site_library", row.site_library, 0);
    visitor.optional("site_offset", row.site_offset, 0);
    visitor("several_files", row.of_several_files);
    visitor("several_sites", row.of_several_sites);
    visitor("calls", row.calls);
    visitor("served_calls", row.served_calls);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
    visitor("min_ns", row.min_ns);
    visitor("max_ns", row.max_ns);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
  }
};

template <>
struct Columns<model::SumBucketRow> {
  static constexpr const char* kTable = "sum_bucket";
  static void visit(auto& visitor, auto& row) {
    visitor("sum_id", row.sum_id, tables::kDelta);
    visitor("measure", row.measure);
    visitor("low", row.bucket.low);
    visitor("high", row.bucket.high);
    visitor("calls", row.bucket.calls);
    visitor("bytes", row.bucket.bytes);
  }
};

template <>
struct Columns<trace::PlacementRow> {
  static constexpr const char* kTable = "placement";
  static void visit(auto& visitor, auto& row) {
    visitor("rule", row.rule);
    visitor("text", row.text);
    visitor.optional("pid", row.pid, 0);
    visitor("matches", row.matches);
    visitor("bytes", row.bytes);
    visitor("fallbacks", row.fallbacks);
    visitor("fallback_bytes", row.fallback_bytes);
    visitor("live_bytes", row.live_bytes);
    visitor("peak_bytes", row.peak_bytes);
  }
};

template <>
struct Columns<trace::PageNodeRow> {
  static constexpr const char* kTable = "page_node";
  static void visit(auto& visitor, auto& row) {
    visitor.optional("rule", row.rule, -1);
    visitor.optional("pid", row.pid, 0);
    visitor.optional("file", row.file);
    visitor("node", row.node);
    visitor("samples", row.samples);
    visitor("sampled", row.sampled);
    visitor("bytes", row.bytes);
    visitor("resident_bytes", row.resident_bytes);
  }
};

template <>
struct Columns<model::GpuRow> {
  static constexpr const char* kTable = "gpu";
  static void visit(auto& visitor, auto& row) {
    visitor("gpu_id", row.gpu_id);
    visitor("kind", row.kind);
    visitor.optional("name", row.name);
    visitor.optional("uuid", row.uuid);
    visitor.optional("pci", row.pci);
    visitor.optional("nvml_index", row.index, -1);
    visitor.optional("parent_id", row.parent_id, 0);
    visitor.optional("gpu_instance", row.gpu_instance, -1);
    visitor.optional("compute_instance", row.compute_instance, -1);
    visitor.optional("memory_bytes", row.memory_bytes, -1);
    visitor.optional("driver", row.driver);
    visitor.optional("numa_node", row.numa_node, -1);
  }
};

}  // namespace mlrun::summary

namespace mlrun::trace {

namespace {

// Writes the marks of MLLOG files as another file of the table `mark`; without marks too, so that the table has a file
// with its columns.
Status write_marks(const std::vector<model::MarkRow>& marks, const std::string& trace_folder) {
  const std::string folder = trace_folder + "/tables/mark";
  if (Status made = util::make_folders(folder); !made) return made;
  MarkTable table;
  if (auto opened = table.parquet().open(folder + "/part-mllog.parquet"); !opened) return opened;
  for (const model::MarkRow& mark : marks) {
    table.add(mark, {});
    if (Status ended = table.end_full_group(); !ended) return ended;
  }
  return table.close();
}

}  // namespace

Status write_small_tables(const model::TraceInfo& info, const std::string& trace_folder) {
  Status status;
  const auto write = [&](const auto& rows) {
    if (status) status = summary::RowWriter::write(rows, trace_folder);
  };
  write(info.processes);
  write(info.images);
  write(info.threads);
  write(info.files);
  write(info.names);
  if (status) status = write_marks(info.marks, trace_folder);
  write(info.gpus);
  write(info.losses);
  write(info.coverage);
  write(info.left_out);
  const model::Placement placement = model::run_of(*info.run).placement;
  write(placement_rows(placement));
  write(page_node_rows(placement));
  write(info.folded);
  write(info.sums);
  write(buckets_of(info.sums));
  if (status) status = write_stacks(info.stacks, trace_folder);
  return status ? write_frames(info.stacks, trace_folder) : status;
}

}  // namespace mlrun::trace
