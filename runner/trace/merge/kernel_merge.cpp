// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/kernel_merge.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "runner/decode/kernel_view.h"
#include "runner/decode/limits.h"
#include "runner/events/session.h"
#include "runner/trace/coverage/kernel_recorded.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/files/files_by_inode.h"
#include "runner/trace/files/late_mounts.h"
#include "runner/trace/gpu/gpu_file_rows.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/kernel/device_table.h"
#include "runner/trace/kernel/file_call_gaps.h"
#include "runner/trace/kernel/kernel_moments.h"
#include "runner/trace/kernel/memory_table.h"
#include "runner/trace/kernel/operation_totals.h"
#include "runner/trace/kernel/remote_table.h"
#include "runner/trace/observed/silent_processes.h"
#include "runner/trace/rows/ordered_table.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {
namespace {

using nlohmann::json;
constexpr const char* kLetGo =
    "they executed a program with rights beyond their user's (setuid, file capabilities, not readable), and were not "
    "observed from there on";

constexpr const char* kSilent =
    "not traced by the library (static, setuid or too short-lived): no rows in process and call; the kernel side's "
    "tables have their I/O";

}  // namespace

KernelMerge::KernelMerge(const std::string& trace_folder, const model::Run& session)
    : session_(session),
      end_(session),
      file_(::open((trace_folder + "/" + MLRUN_KERNEL_FILE).c_str(), O_RDONLY | O_CLOEXEC)),
      libcufile_(session, session.kernel_side.cufile, "cufile", "libcufile"),
      torch_(session, session.kernel_side.torch, "torch", "PyTorch's allocator",
             "libc10_cuda.so or libc10_hip.so, which have its probes,"),
      gpu_files_(below_gpu_files()) {}

// The rows in which libcufile's own reads and writes are searched. If both calls and kernel operations were recorded,
// only calls are: the operations have the same bytes.
GpuFileCalls::Below KernelMerge::below_gpu_files() const {
  if (has_calls()) return GpuFileCalls::Below::kCalls;
  return has_signal("file operations") ? GpuFileCalls::Below::kOperations : GpuFileCalls::Below::kNothing;
}

bool KernelMerge::has_signal(const char* name) const { return !session_.kernel_side.attached_by(name).empty(); }

bool KernelMerge::lacks_faults() const {
  return has_calls() ? !records_faults(session_) : recorded_by_system_calls(session_);
}

bool KernelMerge::sees_page_cache() const { return present() && has_signal("page cache"); }

void KernelMerge::add_misses(const model::CallRow& row, summary::Builder& builder) const {
  if (!present()) return;
  if (const auto pages = join_.pages.of(row)) builder.add_misses(row.file_id, pages->missing, pages->ahead);
}

template <typename Visit>
Status KernelMerge::for_each_record(const Visit& visit) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return fail_errno("read " MLRUN_KERNEL_FILE, errno);
  bytes_ = static_cast<uint64_t>(status.st_size);
  damaged_bytes_ = unknown_records_ = 0;
  SpoolCursor cursor(file_.get(), 0, bytes_, bytes_);
  SpoolFrame frame;
  for (;;) {
    const auto more = cursor.next(frame);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    if (frame.header.type != MLRUN_FRAME_KERNEL) continue;
    events::KernelReader reader(frame.payload, frame.header.payload_bytes);
    while (reader.next()) {
      if (Status visited = visit(reader); !visited) return visited;
    }
    damaged_bytes_ += reader.damaged_bytes();
  }
  damaged_bytes_ += cursor.damaged_bytes();
  return {};
}

// Whether the begin and the end of every sleep were recorded. If not, an unrecorded sleep would count as time awake.
bool KernelMerge::has_waits() const { return end_.has_begun() && session_.kernel_side.has_program("sched_switch"); }

Status KernelMerge::load(model::TraceInfo& info) {
  for (const model::ImageRow& image : info.images) {
    const bool is_known = image.proc_id >= 1 && static_cast<size_t>(image.proc_id) <= info.processes.size();
    if (is_known) gpu_files_.add_exec(info.processes[static_cast<size_t>(image.proc_id) - 1].pid, image.start_ns);
  }
  CufileParts cufile_parts;
  Status read = for_each_record([&](const events::KernelReader& reader) -> Status {
    end_.note(reader.head());
    reader.visit(events::Visitor{
        [&](const mlrun_task& task) {
          if (task.event != MLRUN_TASK_EXEC) return;
          gpu_files_.add_exec(static_cast<int32_t>(task.head.pid), TraceClock::from_monotonic(task.head.time_ns));
        },
        [&](const mlrun_cufile_part& part) { cufile_parts.add(part); },
        [&](const mlrun_cufile_call& call) { gpu_files_.add(call, cufile_parts.take(call)); },
        [&](const mlrun_block_part& part) { join_.parts.add(part); },
        [&](const mlrun_file_op& operation) { join_.file_ops.add(operation); },
        [&](const mlrun_file_done& done) { completions_.add(done); },
        [&](const mlrun_remote& remote) { join_.remotes.add(remote); },
        [&](const mlrun_page_add& pages) {
          join_.pages.add(pages);
          ++page_adds_;
        },
    });
    observed_.add(reader);
    names_.add(reader);
    return {};
  });
  observed_.finish(info, session_.end_ns.value_or(0));
  names_.finish(info.files);
  if (has_waits()) follower_.emplace(file_.get(), bytes_, end_, info.files);
  join_.parts.sort();
  join_.file_ops.sort();
  join_.remotes.sort();
  join_.pages.finish(info.files, !recorded_by_system_calls(session_));
  join_.reused.load(info.files);
  gpu_files_.finish(info.files);
  completions_.sort();
  return read;
}

// The event tables of the kernel side. Each record of the spool adds its row when it is read.
class KernelMerge::Tables {
 public:
  Tables(KernelMerge& merge, const model::TraceInfo& info, summary::Builder& builder, int64_t events_from_ns)
      : merge_(merge),
        builder_(builder),
        events_from_ns_(events_from_ns),
        threads_(info),
        silent_(info),
        by_system_calls_(recorded_by_system_calls(merge.session_)),
        inodes_(info.files, merge.names_seen(), merge.observed_.files().made()),
        gpu_files_({merge.gpu_files_, merge.gpu_file_gaps_, threads_, inodes_, builder,
                    merge.below_gpu_files() != GpuFileCalls::Below::kNothing}) {
    if (merge.has_waits()) follower_.emplace(merge.file_.get(), merge.bytes_, merge.end_, info.files);
  }

  Status open(const std::string& folder) {
    Status status = requests_.open(folder);
    if (status) status = parts_.open(folder);
    if (status) status = waits_.open(folder);
    if (status) status = file_ops_.open(folder);
    if (status) status = memory_.open(folder);
    if (status && merge_.libcufile_.is_followed()) status = gpu_files_.open(folder);
    if (status && merge_.torch_.is_followed()) status = torch_memories_.open(folder);
    return status ? remotes_.open(folder) : status;
  }

  // Ignores records that are shorter than their kind, or of an unknown kind.
  Status add(const events::KernelReader& reader) {
    Status status;
    const bool is_known = reader.visit(
        [&](const auto& record) requires requires { take(record); } { status = take(record); });
    if (is_known) return status;
    ++merge_.unknown_records_;
    return {};
  }

  Status close() {
    Status status = requests_.close();
    if (status) status = parts_.close();
    if (status) status = waits_.close();
    if (status) status = file_ops_.close();
    if (status) status = memory_.close();
    if (status) status = remotes_.close();
    if (status && merge_.libcufile_.is_followed()) status = gpu_files_.close();
    if (status && merge_.torch_.is_followed()) status = torch_memories_.close();
    merge_.gpu_file_calls_ = gpu_files_.count();
    merge_.torch_memories_ = torch_memories_.count();
    merge_.nameless_files_ = inodes_.nameless();
    merge_.silent_processes_ = silent_.count();
    merge_.requests_ = requests_.count();
    merge_.parts_ = parts_.count();
    merge_.waits_ = waits_.count();
    merge_.file_ops_ = file_ops_.count();
    merge_.remotes_ = remotes_.count();
    return status;
  }

 private:
  Status take(const mlrun_block_request& record) {
    RequestRow row;
    row.record = record;
    row.end_ns = time_of(row.record.head.time_ns);
    row.ts_ns = begin_of(row.end_ns, row.record.queued_at_ns, row.record.inserted_at_ns, row.record.issued_at_ns);
    merge_.devices_.add(row);
    return requests_.add(row);
  }

  // Sets the times and the thread of a row from the head of its record.
  template <typename Row>
  void begin_row(Row& row, uint64_t began_ns) {
    row.end_ns = time_of(row.record.head.time_ns);
    row.ts_ns = begin_of(row.end_ns, began_ns);
    row.origin = threads_.find(row.ts_ns, row.record.head.pid, row.record.head.tid);
  }

  Status take(const mlrun_block_part& record) {
    PartRow row;
    row.record = record;
    begin_row(row, row.record.queued_at_ns);
    silent_.add(row.record);
    row.call_id = merge_.join_.parts.call_of(part_number_);
    const bool is_in_no_call = merge_.join_.parts.is_outside(part_number_++);
    const bool is_outside = merge_.has_calls() ? is_in_no_call : row.record.operation == 0;
    if ((row.record.flags & MLRUN_BLOCK_DEVICE_INODE) == 0) {
      row.file_id = inodes_.find(row.record.file_device, row.record.inode, row.ts_ns);
    }
    const int64_t pages =
        merge_.outside_reads_.add(row.record, row.file_id, is_outside && row.ts_ns >= events_from_ns_);
    if (row.file_id != 0 && merge_.lacks_faults()) builder_.add_misses(row.file_id, 0, pages);
    return parts_.add(row);
  }

  Status take(const mlrun_wait& record) {
    WaitRow row;
    row.record = record;
    begin_row(row, row.record.off_ns);
    silent_.add(row.record);
    if ((row.record.flags & MLRUN_WAIT_THROTTLED) != 0) {
      merge_.throttled_++;
      util::add_to(merge_.throttled_ns_, std::clamp(time_of(row.record.wake_ns), row.ts_ns, row.end_ns) - row.ts_ns);
    }
    return waits_.add(row);
  }

  Status take(const mlrun_file_op& record) {
    FileOpRow row;
    row.record = record;
    begin_row(row, row.record.begin_ns);
    silent_.add(row.record);
    row.call_id = merge_.join_.file_ops.call_of(file_op_number_);
    const bool is_outside = !merge_.has_calls() || merge_.join_.file_ops.is_outside(file_op_number_);
    ++file_op_number_;
    const OperationNames::Files named = merge_.names_.of(row.record.operation);
    row.file_id = row.record.inode == 0 ? named.file_id : inodes_.find(row.record.device, row.record.inode, row.ts_ns);
    row.file2_id = named.file2_id;
    if ((row.record.flags & MLRUN_FILE_LATER) != 0) row.done = merge_.completions_.of(row.record.operation);
    if (follower_) row.split = follower_->split(row, has_sync_inside(row.record));
    row.gpu_file_id = merge_.gpu_files_.operation(row.record);
    row.pages = merge_.join_.pages.of(row.record);
    if (is_outside && row.ts_ns >= events_from_ns_) {
      const auto totals = merge_.has_calls() ? bytes_of_asynchronous(row) : totals_of(row, by_system_calls_);
      if (totals) builder_.add_operation(row.origin.proc_id, row.file_id, row.end_ns, *totals);
    }
    if (is_outside && row.split && row.record.outer == 0 && row.ts_ns >= events_from_ns_) {
      const int64_t end_ns = row.done ? row.done->time_ns : row.end_ns;
      builder_.add_operation(split_kind(row.record), row.origin.proc_id, row.file_id, end_ns, *row.split);
    }
    if (is_outside && row.record.outer == 0 && row.ts_ns >= events_from_ns_) {
      if (const auto pages = merge_.join_.pages.of_outermost(row.record)) {
        builder_.add_misses(row.file_id, pages->missing, pages->ahead);
      }
    }
    return file_ops_.add(row);
  }

  Status take(const mlrun_kernel_loss& loss) {
    merge_.losses_.add(loss);
    return {};
  }

  // Operations inside the outermost one were recorded before it, because they end first.
  bool has_sync_inside(const mlrun_file_op& record) {
    const bool is_inside = record.outer != 0 && record.op == MLRUN_FILE_SYNC;
    if (is_inside && synced_inside_.size() < kSyncedInsideMax) synced_inside_.insert(record.outer);
    return record.outer == 0 && synced_inside_.erase(record.operation) != 0;
  }

  Status take(const mlrun_remote& record) {
    RemoteRow row;
    row.record = record;
    begin_row(row, row.record.begin_ns);
    row.call_id = merge_.join_.remotes.call_of(remote_number_++);
    row.file_id = inodes_.find(row.record.device, row.record.inode, row.ts_ns);
    return remotes_.add(row);
  }

  Status take(const mlrun_cufile_part& part) {
    if (!merge_.libcufile_.is_followed()) return unreadable();
    gpu_files_.add(part);
    return {};
  }

  // The reads and writes inside the libcufile call have been added before: they end first.
  Status take(const mlrun_cufile_call& record) {
    if (!merge_.libcufile_.is_followed()) return unreadable();
    const auto added = gpu_files_.add(record);
    if (!added) return tl::make_unexpected(added.error());
    return *added ? Status() : unreadable();
  }

  Status take(const mlrun_torch_memory& record) {
    if (!merge_.torch_.is_followed()) return unreadable();
    auto row = torch_memory_row(record);
    if (!row) return unreadable();
    if (record.unread != 0) {
      ++merge_.torch_unread_;
      return {};
    }
    const int64_t ts_ns = time_of(record.head.time_ns);
    row->origin = threads_.find(ts_ns, record.head.pid, record.head.tid);
    builder_.add(*row);
    return torch_memories_.add({ts_ns, ts_ns, *row});
  }

  Status take(const mlrun_memory_seen& record) {
    MemoryRow row;
    row.record = record;
    row.ts_ns = row.end_ns = time_of(row.record.head.time_ns);
    return memory_.add(row);
  }

  Status take(const mlrun_syscall_sum& record) {
    if (merge_.syscalls_.full()) return unreadable();
    const uint32_t pid = record.head.pid;
    merge_.syscalls_.add(record, threads_.find(time_of(record.head.time_ns), pid, pid));
    return {};
  }

  Status unreadable() {
    ++merge_.unknown_records_;
    return {};
  }

  KernelMerge& merge_;
  summary::Builder& builder_;
  int64_t events_from_ns_;
  ThreadFinder threads_;
  SilentProcesses silent_;
  bool by_system_calls_;
  FilesByInode inodes_;
  std::optional<KernelFollower> follower_;  // reads ahead in the spool, for the fragments that operations waited for
  std::unordered_set<uint64_t> synced_inside_;  // outermost operations in progress with an fsync inside
  OrderedTable<RequestTable> requests_;
  OrderedTable<PartTable> parts_;
  OrderedTable<WaitTable> waits_;
  OrderedTable<FileOpTable> file_ops_;
  OrderedTable<RemoteTable> remotes_;
  OrderedTable<MemoryTable> memory_;
  GpuFileRows gpu_files_;
  OrderedTable<TorchMemoryTable> torch_memories_;
  size_t part_number_ = 0, file_op_number_ = 0, remote_number_ = 0;  // of the next record, in the order of load()
};

void KernelMerge::find_gpu_files(Partition& partition) {
  if (gpu_files_.empty()) return;
  for (model::CallRow& row : partition.calls) row.gpu_file_id = gpu_files_.call(row);
}

Status KernelMerge::for_each(const std::function<Status(const events::KernelReader&)>& take) {
  return for_each_record(take);
}

Status KernelMerge::write(const model::TraceInfo& info, const std::string& tables_folder, summary::Builder& builder,
                          int64_t events_from_ns) {
  follower_.reset();  // the calls are split; frees its memory, the tables have a follower for operations
  Tables tables(*this, info, builder, events_from_ns);
  Status status = tables.open(tables_folder);
  if (status) status = for_each_record([&](const events::KernelReader& reader) { return tables.add(reader); });
  if (status) status = tables.close();
  if (status) status = syscalls_.write(tables_folder);
  return status ? write_devices(session_.kernel_side, tables_folder) : status;
}

void KernelMerge::add_gaps(model::TraceInfo& info) const {
  const model::KernelSide& side = session_.kernel_side;
  if (!side.state.empty() && !side.has_recorded()) info.coverage.push_back({0, "the kernel side", side.reason, -1, -1});
  if (!present()) return;
  observed_.add_gaps(session_, nameless_files_, info);
  if (side.let_go_at_exec > 0)
    info.coverage.push_back({0, "the kernel side of processes", kLetGo, 0, side.let_go_at_exec});
  add_late_mounts(session_, info);
  add_file_call_gaps(session_, info);
  if (lacks_faults()) outside_reads_.add_row(info);
  if (has_calls() && silent_processes_ > 0) info.coverage.push_back({0, "processes", kSilent, 0, silent_processes_});
  losses_.add_rows(info);
  end_.add_row(info);
  add_skipped_programs(info, side);
  add_kernel_loss(info, kTooMany, completions_.left_out(), "completions of file operations");
  add_kernel_loss(info, "its completion was not seen", completions_.missing(), "asynchronous file operations");
  add_kernel_loss(info, "damaged in its spool", damaged_bytes_, "bytes");
  add_kernel_loss(info, "of a kind that this version does not know", unknown_records_, "records");
  add_kernel_loss(info, "no room on the disk", static_cast<uint64_t>(std::max<int64_t>(side.spool.left_out, 0)),
                  "records");
  if (has_calls()) add_joins_left_out(info);
  if (libcufile_.is_followed()) add_gpu_file_gaps(info);
  if (torch_.is_followed()) add_torch_gaps(info);
}

void KernelMerge::add_torch_gaps(model::TraceInfo& info) const {
  torch_.add_gaps(info, "PyTorch's GPU memory allocated before the probes were attached",
                  "the memory that tensors already held is unknown");
  add_kernel_loss(info, "the memory of the process could not be read", torch_unread_, "calls of PyTorch's allocator");
}

void KernelMerge::add_gpu_file_gaps(model::TraceInfo& info) const {
  libcufile_.add_gaps(info, "calls of cuFile before the probes were attached", "their earlier calls have no row");
  gpu_file_gaps_.add_rows(info, gpu_files_.batches());
  add_kernel_loss(info, kTooMany, gpu_files_.left_out(), "calls of libcufile");
  if (gpu_files_.knows_posix() || gpu_files_.empty()) return;
  info.coverage.push_back({0, "reads and writes below cuFile",
                           "whether libcufile moved bytes by its own reads and writes (compatibility mode) is unknown: "
                           "add --preload or, for processes that already run, --kprobes=vfs,cufile",
                           -1, -1});
}

// Observed names of files. If no library records files, they come from the kernel side or /proc, else from the
// recorded calls on files.
std::vector<FileSeen> KernelMerge::names_seen() const {
  std::vector<FileSeen> seen = observed_.files().seen();
  seen.insert(seen.end(), join_.reused.seen().begin(), join_.reused.seen().end());
  return seen;
}

void KernelMerge::add_joins_left_out(model::TraceInfo& info) const {
  constexpr const char* kWhy = "more than the merger joins with calls";
  const auto beyond = [](int64_t all, size_t most) {
    return static_cast<uint64_t>(std::max<int64_t>(all - static_cast<int64_t>(most), 0));
  };
  add_kernel_loss(info, kWhy, beyond(parts_, kJoinedPartsMax), "block parts");
  add_kernel_loss(info, kWhy, beyond(file_ops_, kJoinedFileOpsMax), "file operations");
  add_kernel_loss(info, kWhy, beyond(remotes_, kJoinedFileOpsMax), "remote requests");
  add_kernel_loss(info, kWhy, beyond(page_adds_, kPageAddsMax), "page cache additions");
  add_kernel_loss(info, kTooMany, names_.left_out(), "names of operations");
  add_kernel_loss(info, kTooMany, join_.reused.left_out(), "calls that identify the file of an inode number");
}

void KernelMerge::describe(json& run) const {
  if (!present()) return;
  if (!run["kernel_side"].is_object()) run["kernel_side"] = json::object();
  run["kernel_side"]["own_devices"] = devices_.json_of(session_.kernel_side);
  if (throttled_ > 0) run["kernel_side"]["throttled"] = {{"waits", throttled_}, {"asleep_ns", throttled_ns_}};
  if (!syscalls_.empty()) run["kernel_side"]["syscalls"] = syscalls_.json();
  run["totals"]["block_requests"] = requests_;
  run["totals"]["block_parts"] = parts_;
  run["totals"]["waits"] = waits_;
  run["totals"]["file_operations"] = file_ops_;
  run["totals"]["remote_requests"] = remotes_;
  if (libcufile_.is_followed()) run["totals"]["gpu_file_calls"] = gpu_file_calls_;
  if (torch_.is_followed()) run["totals"]["torch_memories"] = torch_memories_;
}

}  // namespace mlrun::trace
