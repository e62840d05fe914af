// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/kernel_rows.h"

#include <algorithm>
#include <utility>

#include "runner/decode/limits.h"
#include "runner/trace/kernel/kernel_moments.h"
#include "runner/trace/kernel/operation_totals.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

KernelRows::KernelRows(const KernelSources& from, const model::TraceInfo& info, FilesByInode inodes)
    : from_(from),
      threads_(info),
      unseen_(info),
      inodes_(std::move(inodes)),
      gpu_files_(
          {from.gpu_files, totals_.gpu_file_gaps, threads_, inodes_, from.builder, from.gpu_files.knows_posix()}) {}

Status KernelRows::open(const std::string& tables_folder) {
  Status status = requests_.open(tables_folder);
  if (status) status = fragments_.open(tables_folder);
  if (status) status = waits_.open(tables_folder);
  if (status) status = file_ops_.open(tables_folder);
  if (status) status = memory_.open(tables_folder);
  if (status && from_.follows_cufile) status = gpu_files_.open(tables_folder);
  if (status && from_.follows_torch) status = torch_memories_.open(tables_folder);
  return status ? remotes_.open(tables_folder) : status;
}

Status KernelRows::add(const decode::KernelReader& reader) {
  Status status;
  const bool is_known = reader.visit(
      [&](const auto& record) requires requires { take(record); } { status = take(record); });
  return is_known ? status : unreadable();
}

Result<KernelTotals> KernelRows::close() {
  Status status = requests_.close();
  if (status) status = fragments_.close();
  if (status) status = waits_.close();
  if (status) status = file_ops_.close();
  if (status) status = memory_.close();
  if (status) status = remotes_.close();
  if (status && from_.follows_cufile) status = gpu_files_.close();
  if (status && from_.follows_torch) status = torch_memories_.close();
  if (!status) return tl::make_unexpected(status.error());
  totals_.requests = requests_.count();
  totals_.fragments = fragments_.count();
  totals_.waits = waits_.count();
  totals_.file_ops = file_ops_.count();
  totals_.remotes = remotes_.count();
  totals_.gpu_file_calls = gpu_files_.count();
  totals_.torch_memories = torch_memories_.count();
  totals_.nameless_files = inodes_.nameless();
  totals_.unseen_processes = unseen_.count();
  return std::move(totals_);
}

void KernelRows::begin_row(auto& row, uint64_t began_ns) {
  row.end_ns = time_of(row.record.head.time_ns);
  row.ts_ns = begin_of(row.end_ns, began_ns);
  row.origin = threads_.find(row.ts_ns, row.record.head.pid, row.record.head.tid);
}

Status KernelRows::take(const mlrun_block_request& record) {
  RequestRow row;
  row.record = record;
  row.end_ns = time_of(row.record.head.time_ns);
  row.ts_ns = begin_of(row.end_ns, row.record.queued_at_ns, row.record.inserted_at_ns, row.record.issued_at_ns);
  totals_.devices.add(row);
  return requests_.add(row);
}

Status KernelRows::take(const mlrun_bio_fragment& record) {
  FragmentRow row;
  row.record = record;
  begin_row(row, row.record.queued_at_ns);
  unseen_.add(row.record);
  row.call_id = from_.join.fragments.call_of(fragment_number_);
  const bool is_in_no_call = from_.join.fragments.is_outside(fragment_number_++);
  const bool is_outside = from_.has_calls ? is_in_no_call : row.record.operation == 0;
  if ((row.record.flags & MLRUN_BLOCK_DEVICE_INODE) == 0) {
    row.file_id = inodes_.find(row.record.file_device, row.record.inode, row.ts_ns);
  }
  const int64_t pages =
      totals_.outside_reads.add(row.record, row.file_id, is_outside && row.ts_ns >= from_.events_from_ns);
  if (row.file_id != 0 && from_.lacks_faults) from_.builder.add_misses(row.file_id, 0, pages);
  return fragments_.add(row);
}

Status KernelRows::take(const mlrun_wait& record) {
  WaitRow row;
  row.record = record;
  begin_row(row, row.record.off_ns);
  unseen_.add(row.record);
  if ((row.record.flags & MLRUN_WAIT_THROTTLED) != 0) {
    totals_.throttled.waits++;
    util::add_to(totals_.throttled.asleep_ns,
                 std::clamp(time_of(row.record.wake_ns), row.ts_ns, row.end_ns) - row.ts_ns);
  }
  return waits_.add(row);
}

Status KernelRows::take(const mlrun_file_op& record) {
  FileOpRow row;
  row.record = record;
  begin_row(row, row.record.begin_ns);
  unseen_.add(row.record);
  row.call_id = from_.join.file_ops.call_of(file_op_number_);
  const bool is_outside = !from_.has_calls || from_.join.file_ops.is_outside(file_op_number_);
  ++file_op_number_;
  const OperationNames::Files named = from_.names.of(row.record.operation);
  row.file_id = row.record.inode == 0 ? named.file_id : inodes_.find(row.record.device, row.record.inode, row.ts_ns);
  row.file2_id = named.file2_id;
  if ((row.record.flags & MLRUN_FILE_LATER) != 0) row.done = from_.completions.of(row.record.operation);
  if (from_.follower != nullptr) row.split = from_.follower->split(row, has_sync_inside(row.record));
  row.gpu_file_id = from_.gpu_files.operation(row.record);
  row.pages = from_.join.pages.of(row.record);
  if (is_outside && row.ts_ns >= from_.events_from_ns) add_up(row);
  return file_ops_.add(row);
}

// For an operation inside no call, which the summary knows from here alone.
void KernelRows::add_up(const FileOpRow& row) {
  summary::Builder& builder = from_.builder;
  const auto totals = from_.has_calls ? bytes_of_asynchronous(row) : totals_of(row, from_.by_system_calls);
  if (totals) builder.add_operation(row.origin.proc_id, row.file_id, row.end_ns, *totals);
  if (row.record.outer != 0) return;
  if (row.split) {
    const int64_t end_ns = row.done ? row.done->time_ns : row.end_ns;
    builder.add_operation(split_kind(row.record), row.origin.proc_id, row.file_id, end_ns, *row.split);
  }
  if (const auto pages = from_.join.pages.of_outermost(row.record)) {
    builder.add_misses(row.file_id, pages->missing, pages->ahead);
  }
}

Status KernelRows::take(const mlrun_kernel_loss& loss) {
  totals_.losses.add(loss);
  return {};
}

// Operations inside the outermost one were recorded before it, because they end first.
bool KernelRows::has_sync_inside(const mlrun_file_op& record) {
  const bool is_inside = record.outer != 0 && record.op == MLRUN_FILE_SYNC;
  if (is_inside && synced_inside_.size() < decode::kSyncedInsideMax) synced_inside_.insert(record.outer);
  return record.outer == 0 && synced_inside_.erase(record.operation) != 0;
}

Status KernelRows::take(const mlrun_remote& record) {
  RemoteRow row;
  row.record = record;
  begin_row(row, row.record.begin_ns);
  row.call_id = from_.join.remotes.call_of(remote_number_++);
  row.file_id = inodes_.find(row.record.device, row.record.inode, row.ts_ns);
  return remotes_.add(row);
}

Status KernelRows::take(const mlrun_cufile_part& part) {
  if (!from_.follows_cufile) return unreadable();
  gpu_files_.add(part);
  return {};
}

// The reads and writes inside the libcufile call have been added before: they end first.
Status KernelRows::take(const mlrun_cufile_call& record) {
  if (!from_.follows_cufile) return unreadable();
  const auto added = gpu_files_.add(record);
  if (!added) return tl::make_unexpected(added.error());
  return *added ? Status() : unreadable();
}

Status KernelRows::take(const mlrun_torch_memory& record) {
  if (!from_.follows_torch) return unreadable();
  auto row = torch_memory_row(record);
  if (!row) return unreadable();
  if (record.unread != 0) {
    ++totals_.torch_unread;
    return {};
  }
  const int64_t ts_ns = time_of(record.head.time_ns);
  row->origin = threads_.find(ts_ns, record.head.pid, record.head.tid);
  from_.builder.add(*row);
  return torch_memories_.add({ts_ns, ts_ns, *row});
}

Status KernelRows::take(const mlrun_memory_seen& record) {
  MemoryRow row;
  row.record = record;
  row.ts_ns = row.end_ns = time_of(row.record.head.time_ns);
  return memory_.add(row);
}

Status KernelRows::take(const mlrun_syscall_sum& record) {
  if (totals_.syscalls.full()) return unreadable();
  const uint32_t pid = record.head.pid;
  totals_.syscalls.add(record, threads_.find(time_of(record.head.time_ns), pid, pid));
  return {};
}

Status KernelRows::unreadable() {
  ++totals_.unknown_records;
  return {};
}

}  // namespace mlrun::trace
