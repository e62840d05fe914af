// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/small_tables.h"

#include <filesystem>
#include <unordered_map>

#include "runner/summary/row_writer.h"
#include "runner/summary/small_rows.h"
#include "runner/trace/parquet_table.h"

namespace mlrun::trace {

namespace {

// Opens the table's one file, has `add` called for each row, and closes it.
template <typename Rows, typename Add>
Status write_rows(ParquetTable& table, const Rows& rows, const std::string& trace_folder, Add add) {
  const std::filesystem::path folder = std::filesystem::path(trace_folder) / "tables" / table.name();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("cannot create " + folder.string() + ": " + error.message());
  if (auto opened = table.open((folder / "part-00000.parquet").string()); !opened) return opened;
  for (const auto& row : rows) {
    add(row);
    table.row_added();
    if (!table.full()) continue;
    if (auto ended = table.end_row_group(); !ended) return ended;
  }
  if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

Status write_processes(const model::TraceInfo& info, const std::string& folder) {
  ParquetTable table("process");
  auto& proc_id = table.int32("proc_id");
  auto& pid = table.int32("pid");
  auto& ns_pid = table.int32("ns_pid");
  auto& ppid = table.optional_int32("ppid");
  auto& parent_proc_id = table.optional_int32("parent_proc_id");
  auto& pid_namespace = table.optional_int64("pid_namespace");
  auto& start_ticks = table.optional_int64("start_ticks");
  auto& first = table.int64("first");
  auto& last = table.int64("last");
  auto& uid = table.optional_int64("uid");
  auto& rank = table.optional_int32("rank");
  auto& local_rank = table.optional_int32("local_rank");
  auto& world_size = table.optional_int32("world_size");
  auto& cgroup = table.optional_text("cgroup");
  auto& command = table.optional_text("command");
  auto& role = table.optional_text("role");
  auto& forked = table.boolean("forked");
  auto& wait_status = table.optional_int64("wait_status");
  auto& kernel_rchar = table.optional_int64("kernel_rchar");
  auto& kernel_wchar = table.optional_int64("kernel_wchar");
  auto& kernel_syscr = table.optional_int64("kernel_syscr");
  auto& kernel_syscw = table.optional_int64("kernel_syscw");
  return write_rows(table, info.processes, folder, [&](const model::ProcessRow& row) {
    proc_id.add(row.proc_id);
    pid.add(row.pid);
    ns_pid.add(row.ns_pid);
    ppid.add_unless(0, row.ppid);
    parent_proc_id.add_unless(0, row.parent_proc_id);
    pid_namespace.add_unless(0, row.pid_namespace);
    start_ticks.add_unless(0, row.start_ticks);
    first.add(row.first_ns);
    last.add(row.last_ns);
    uid.add_unless(-1, row.uid);
    rank.add_unless(-1, row.rank);
    local_rank.add_unless(-1, row.local_rank);
    world_size.add_unless(-1, row.world_size);
    cgroup.add_unless_empty(row.cgroup);
    command.add_unless_empty(row.command);
    role.add_unless_empty(row.role);
    forked.add(row.forked);
    wait_status.add_unless(-1, row.exit_status);
    kernel_rchar.add_unless(-1, row.kernel_rchar);
    kernel_wchar.add_unless(-1, row.kernel_wchar);
    kernel_syscr.add_unless(-1, row.kernel_syscr);
    kernel_syscw.add_unless(-1, row.kernel_syscw);
  });
}

Status write_images(const model::TraceInfo& info, const std::string& folder) {
  ParquetTable table("image");
  auto& image_id = table.int32("image_id");
  auto& proc_id = table.int32("proc_id");
  auto& start = table.int64("first");
  auto& exe = table.optional_text("exe");
  auto& arguments = table.optional_text("arguments");
  auto& cwd = table.optional_text("cwd");
  auto& allocator = table.optional_text("allocator");
  return write_rows(table, info.images, folder, [&](const model::ImageRow& row) {
    image_id.add(row.image_id);
    proc_id.add(row.proc_id);
    start.add(row.start_ns);
    exe.add_unless_empty(row.exe);
    arguments.add_unless_empty(row.arguments);
    cwd.add_unless_empty(row.cwd);
    allocator.add_unless_empty(row.allocator);
  });
}

Status write_threads(const model::TraceInfo& info, const std::string& folder) {
  ParquetTable table("thread");
  auto& thread_id = table.int32("thread_id");
  auto& proc_id = table.int32("proc_id");
  auto& image_id = table.int32("image_id");
  auto& tid = table.int32("tid");
  auto& first = table.int64("first");
  auto& last = table.int64("last");
  auto& comm = table.optional_text("comm");
  return write_rows(table, info.threads, folder, [&](const model::ThreadRow& row) {
    thread_id.add(row.thread_id);
    proc_id.add(row.proc_id);
    image_id.add(row.image_id);
    tid.add(row.tid);
    first.add(row.first_ns);
    last.add(row.last_ns);
    comm.add_unless_empty(row.comm);
  });
}

Status write_files(const model::TraceInfo& info, const std::string& folder) {
  ParquetTable table("file");
  auto& file_id = table.int64("file_id", Encoding::kDelta);
  auto& path = table.text("path");
  auto& raw_path = table.optional_text("raw_path");
  auto& path_bytes = table.optional_bytes("path_bytes");
  auto& dev = table.optional_int64("dev");
  auto& ino = table.optional_int64("ino");
  auto& file_system = table.optional_text("file_system");
  auto& mount = table.optional_text("mount");
  auto& kind = table.text("kind");
  return write_rows(table, info.files, folder, [&](const model::FileRow& row) {
    file_id.add(row.file_id);
    path.add(row.path);
    raw_path.add_unless_empty(row.raw_path);
    path_bytes.add_unless_empty(row.path_bytes);
    const bool opened = row.dev != 0 || row.ino != 0;
    opened ? dev.add(row.dev) : dev.add_null();
    opened ? ino.add(row.ino) : ino.add_null();
    file_system.add_unless_empty(row.file_system);
    mount.add_unless_empty(row.mount);
    kind.add(row.kind);
  });
}

Status write_names(const model::TraceInfo& info, const std::string& folder) {
  ParquetTable table("name");
  auto& name_id = table.int64("name_id");
  auto& name = table.text("name");
  return write_rows(table, info.names, folder, [&](const model::NameRow& row) {
    name_id.add(row.name_id);
    name.add(row.text);
  });
}

Status write_marks(const model::TraceInfo& info, const std::string& folder) {
  std::unordered_map<std::string_view, int64_t> ids;
  for (const model::NameRow& name : info.names) ids.emplace(name.text, name.name_id);
  ParquetTable table("mark");
  auto& ts = table.int64("ts", Encoding::kDelta);
  auto& proc_id = table.optional_int32("proc_id");
  auto& image_id = table.optional_int32("image_id");
  auto& thread_id = table.optional_int32("thread_id");
  auto& pid = table.optional_int32("pid");
  auto& tid = table.optional_int32("tid");
  auto& dur = table.optional_int64("dur");
  auto& domain = table.text("domain");
  auto& name_id = table.optional_int64("name_id");
  auto& value = table.text("value");
  auto& scope = table.text("scope");
  auto& error_ns = table.int64("error_ns");
  return write_rows(table, info.marks, folder, [&](const model::MarkRow& row) {
    ts.add(row.origin.ts_ns);
    proc_id.add_unless(0, row.origin.proc_id);
    image_id.add_unless(0, row.origin.image_id);
    thread_id.add_unless(0, row.origin.thread_id);
    pid.add_unless(0, row.origin.pid);
    tid.add_unless(0, row.origin.tid);
    dur.add_unless(-1, row.dur_ns);
    domain.add(row.domain);
    const auto known = ids.find(row.name);
    name_id.add_unless(0, known == ids.end() ? 0 : known->second);
    value.add(row.value);
    scope.add(row.scope);
    error_ns.add(row.error_ns);
  });
}

}  // namespace

Status write_small_tables(const model::TraceInfo& info, const std::string& trace_folder) {
  for (const auto write : {write_processes, write_images, write_threads, write_files, write_names, write_marks}) {
    if (auto written = write(info, trace_folder); !written) return written;
  }
  if (auto written = summary::RowWriter::write(info.phases, trace_folder); !written) return written;
  if (auto written = summary::RowWriter::write(info.losses, trace_folder); !written) return written;
  return summary::RowWriter::write(info.coverage, trace_folder);
}

}  // namespace mlrun::trace
