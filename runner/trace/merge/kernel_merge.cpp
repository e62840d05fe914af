// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/kernel_merge.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/decode/kernel_view.h"
#include "runner/decode/limits.h"
#include "runner/events/session.h"
#include "runner/model/run_keys.h"
#include "runner/trace/coverage/kernel_recorded.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/files/late_mounts.h"
#include "runner/trace/kernel/device_table.h"
#include "runner/trace/kernel/file_call_gaps.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/merge/kernel_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {
namespace {

using nlohmann::json;
constexpr const char* kUnobservedAtExec =
    "they executed a program with rights beyond their user's (setuid, file capabilities, not readable), and were not "
    "observed from there on";

constexpr const char* kUnseenProcesses =
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
  damaged_bytes_ = 0;
  SpoolCursor cursor(file_.get(), 0, bytes_, bytes_);
  SpoolFrame frame;
  for (;;) {
    const auto more = cursor.next(frame);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    if (frame.header.type != MLRUN_FRAME_KERNEL) continue;
    decode::KernelReader reader(frame.payload, frame.header.payload_bytes);
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

// From the begin of the spool. Requires: end_ knows all records.
void KernelMerge::follow(const model::FileTable& files) {
  if (has_waits()) follower_.emplace(file_.get(), bytes_, end_, files);
}

Status KernelMerge::load(model::TraceInfo& info, const std::function<void(const decode::KernelReader&)>& also) {
  for (const model::ImageRow& image : info.images) {
    const bool is_known = image.proc_id >= 1 && static_cast<size_t>(image.proc_id) <= info.processes.size();
    if (is_known) gpu_files_.add_exec(info.processes[static_cast<size_t>(image.proc_id) - 1].pid, image.start_ns);
  }
  CufileParts cufile_parts;
  Status read = for_each_record([&](const decode::KernelReader& reader) -> Status {
    end_.note(reader.head());
    reader.visit(decode::Visitor{
        [&](const mlrun_task& task) {
          if (task.event != MLRUN_TASK_EXEC) return;
          gpu_files_.add_exec(static_cast<int32_t>(task.head.pid), TraceClock::from_monotonic(task.head.time_ns));
        },
        [&](const mlrun_cufile_part& part) { cufile_parts.add(part); },
        [&](const mlrun_cufile_call& call) { gpu_files_.add(call, cufile_parts.take(call)); },
        [&](const mlrun_bio_fragment& fragment) { join_.fragments.add(fragment); },
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
    if (also) also(reader);
    return {};
  });
  observed_.finish(info, session_.end_ns.value_or(0));
  names_.finish(info.files);
  follow(info.files);
  join_.fragments.sort();
  join_.file_ops.sort();
  join_.remotes.sort();
  join_.pages.finish(info.files, !recorded_by_system_calls(session_));
  join_.reused.load(info.files);
  gpu_files_.finish(info.files);
  completions_.sort();
  return read;
}

void KernelMerge::find_gpu_files(SliceRows& slice_rows) {
  if (gpu_files_.empty()) return;
  for (model::CallRow& row : slice_rows.calls) row.gpu_file_id = gpu_files_.call(row);
}

Status KernelMerge::for_each(const std::function<Status(const decode::KernelReader&)>& take) {
  return for_each_record(take);
}

Status KernelMerge::write(const model::TraceInfo& info, const std::string& tables_folder, summary::Builder& builder,
                          int64_t events_from_ns) {
  follow(info.files);  // the calls are split: from here on it splits operations
  KernelRows rows({.join = join_,
                   .names = names_,
                   .completions = completions_,
                   .gpu_files = gpu_files_,
                   .follower = follower_ ? &*follower_ : nullptr,
                   .builder = builder,
                   .events_from_ns = events_from_ns,
                   .has_calls = has_calls(),
                   .lacks_faults = lacks_faults(),
                   .by_system_calls = recorded_by_system_calls(session_),
                   .follows_cufile = libcufile_.is_observed(),
                   .follows_torch = torch_.is_observed()},
                  info, FilesByInode(info.files, names_seen(), observed_.files().made()));
  Status status = rows.open(tables_folder);
  if (status) status = for_each_record([&](const decode::KernelReader& reader) { return rows.add(reader); });
  if (!status) return status;
  auto totals = rows.close();
  if (!totals) return tl::make_unexpected(totals.error());
  totals_ = *std::move(totals);
  follower_.reset();
  status = totals_.syscalls.write(tables_folder);
  return status ? write_devices(session_.kernel_side, tables_folder) : status;
}

void KernelMerge::add_gaps(model::TraceInfo& info) const {
  const model::KernelSide& side = session_.kernel_side;
  if (!side.state.empty() && !side.has_recorded()) info.coverage.push_back({0, "the kernel side", side.reason, -1, -1});
  if (!present()) return;
  observed_.add_gaps(session_, totals_.nameless_files, info);
  if (side.unobserved_at_exec > 0)
    info.coverage.push_back({0, "the kernel side of processes", kUnobservedAtExec, 0, side.unobserved_at_exec});
  add_late_mounts(session_, info);
  add_file_call_gaps(session_, info);
  if (lacks_faults()) totals_.outside_reads.add_row(info);
  if (has_calls() && totals_.unseen_processes > 0)
    info.coverage.push_back({0, "processes", kUnseenProcesses, 0, totals_.unseen_processes});
  totals_.losses.add_rows(info);
  end_.add_row(info);
  add_skipped_programs(info, side);
  add_kernel_loss(info, kTooMany, completions_.left_out(), "completions of file operations");
  add_kernel_loss(info, "its completion was not seen", completions_.missing(), "asynchronous file operations");
  add_kernel_loss(info, "damaged in its spool", damaged_bytes_, "bytes");
  add_kernel_loss(info, "of a kind that this version does not know", totals_.unknown_records, "records");
  add_kernel_loss(info, "no room on the disk", static_cast<uint64_t>(std::max<int64_t>(side.spool.left_out, 0)),
                  "records");
  if (has_calls()) add_joins_left_out(info);
  if (libcufile_.is_observed()) add_gpu_file_gaps(info);
  if (torch_.is_observed()) add_torch_gaps(info);
}

void KernelMerge::add_torch_gaps(model::TraceInfo& info) const {
  torch_.add_gaps(info, "PyTorch's GPU memory allocated before the probes were attached",
                  "the memory that tensors already held is unknown");
  add_kernel_loss(info, "the memory of the process could not be read", totals_.torch_unread,
                  "calls of PyTorch's allocator");
}

void KernelMerge::add_gpu_file_gaps(model::TraceInfo& info) const {
  libcufile_.add_gaps(info, "calls of cuFile before the probes were attached", "their earlier calls have no row");
  totals_.gpu_file_gaps.add_rows(info, gpu_files_.batches());
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
  constexpr const char* kWhy = "beyond the number of records that the merger joins with calls";
  const auto beyond = [](int64_t all, size_t most) {
    return static_cast<uint64_t>(std::max<int64_t>(all - static_cast<int64_t>(most), 0));
  };
  add_kernel_loss(info, kWhy, beyond(totals_.fragments, decode::kJoinedFragmentsMax), "bio fragments");
  add_kernel_loss(info, kWhy, beyond(totals_.file_ops, decode::kJoinedFileOpsMax), "file operations");
  add_kernel_loss(info, kWhy, beyond(totals_.remotes, decode::kJoinedFileOpsMax), "remote requests");
  add_kernel_loss(info, kWhy, beyond(page_adds_, decode::kPageAddsMax), "page cache additions");
  add_kernel_loss(info, kTooMany, names_.left_out(), "names of operations");
  add_kernel_loss(info, kTooMany, join_.reused.left_out(), "calls that identify the file of an inode number");
}

void KernelMerge::describe(json& run) const {
  if (!present()) return;
  if (!run["kernel_side"].is_object()) run["kernel_side"] = json::object();
  run["kernel_side"]["own_devices"] = totals_.devices.json_of(session_.kernel_side);
  if (totals_.throttled.waits > 0) run["kernel_side"]["throttled"] = model::json_of(totals_.throttled);
  if (!totals_.syscalls.empty()) run["kernel_side"]["syscalls"] = totals_.syscalls.json();
  run["totals"]["block_requests"] = totals_.requests;
  run["totals"]["block_parts"] = totals_.fragments;
  run["totals"]["waits"] = totals_.waits;
  run["totals"]["file_operations"] = totals_.file_ops;
  run["totals"]["remote_requests"] = totals_.remotes;
  if (libcufile_.is_observed()) run["totals"]["gpu_file_calls"] = totals_.gpu_file_calls;
  if (torch_.is_observed()) run["totals"]["torch_memories"] = totals_.torch_memories;
}

}  // namespace mlrun::trace
