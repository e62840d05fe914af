// SPDX-License-Identifier: Apache-2.0
// The kernel side of a trace: reads its spool (kernel.bin) twice, once for the join with the calls and once for the
// tables. Memory: two row groups of each table, and up to the limits of limits.h, behind which is counted what was not
// taken in:
//   24 bytes  for each block part, file operation, remote request and completion, 40 for each page cache addition
//   88 bytes  for each begin, exec and end of a thread and each look at a process of an observation
//   32 bytes  for each call on a file whose inode number another file of the trace has, too
//   40 bytes  for each operation that was given names, and the text of these
//  160 bytes  for each name of a file that was opened or open then, beside its row of the table, and the text of these
//
//   KernelMerge kernel(folder, session);
//   if (kernel.present()) { kernel.load(); for each call: kernel.join()->call(row, id); kernel.write(...); }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"
#include "runner/trace/gpu/gpu_file_calls.h"
#include "runner/trace/gpu/gpu_file_table.h"
#include "runner/trace/gpu/library_report.h"
#include "runner/trace/gpu/torch_memory_table.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/kernel/completions.h"
#include "runner/trace/kernel/device_meter.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/kernel/kernel_end.h"
#include "runner/trace/kernel/kernel_follower.h"
#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/trace/kernel/outside_reads.h"
#include "runner/trace/kernel/syscall_table.h"
#include "runner/trace/observed/observed_tasks.h"
#include "runner/trace/observed/operation_names.h"
#include "runner/trace/spool/session_info.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

class KernelMerge {
 public:
  // Requires: session outlives it.
  KernelMerge(const std::string& trace_folder, const SessionInfo& session);

  // The run has a kernel side.
  [[nodiscard]] bool present() const { return file_.valid(); }

  // It has seen when threads slept.
  [[nodiscard]] bool sees_sleeps() const { return has_waits(); }

  // After write(): rows of `wait` and of gpu_file; the latter is there when libcufile was followed.
  [[nodiscard]] int64_t waits() const { return waits_; }
  [[nodiscard]] bool has_gpu_file_calls() const { return gpu_file_calls_ > 0; }

  // Requires: all files, processes and threads are known that the interposer tells of. Adds those that only the kernel
  // side has seen.
  Status load(model::TraceInfo& info);
  // What the calls are joined with; nullptr without a kernel side.
  [[nodiscard]] CallJoin* join() { return present() ? &join_ : nullptr; }

  // Where the time of these calls went, if waits were recorded. Partitions come in order of time.
  void split(Partition& partition) {
    if (follower_) follower_->split(partition);
  }

  // What reads did not find in the page cache is known; of a call the builder is told by add_misses().
  [[nodiscard]] bool sees_page_cache() const;
  void add_misses(const model::CallRow& row, summary::Builder& builder) const;

  // Which of these calls libcufile made. Likewise in order.
  void find_gpu_files(Partition& partition);

  // All records in the order of the spool.
  Status for_each(const std::function<Status(const events::KernelReader&)>& take);

  // Tables block, block_part, wait, vfs, remote, gpu_file, torch_memory, sample_memory, syscall and device. Requires: all calls have passed
  // by, `info` has processes, threads and files. builder: takes the calls of libcufile, PyTorch's memory, and the operations
  // on files that lie in no call. Calls of before events_from_ns were freed.
  Status write(const model::TraceInfo& info, const std::string& tables_folder, summary::Builder& builder,
               int64_t events_from_ns);

  // After write(): rows of loss and coverage, and what run.json says of the kernel side.
  void add_gaps(model::TraceInfo& info) const;
  void describe(nlohmann::json& run) const;

 private:
  class Tables;
  template <typename Visit>
  Status for_each_record(const Visit& visit);
  [[nodiscard]] std::vector<FileSeen> names_seen() const;
  void add_joins_left_out(model::TraceInfo& info) const;
  void add_gpu_file_gaps(model::TraceInfo& info) const;
  void add_torch_gaps(model::TraceInfo& info) const;
  [[nodiscard]] bool has_waits() const;
  // Of what mapped files read only that it reached a device is known.
  [[nodiscard]] bool lacks_faults() const;
  [[nodiscard]] bool has_calls() const { return session_.has_stream("files") && !session_.observes(); }
  [[nodiscard]] bool has_signal(const char* name) const;
  [[nodiscard]] GpuFileCalls::Below below_gpu_files() const;

  const SessionInfo& session_;
  KernelEnd end_;
  util::UniqueFd file_;
  uint64_t bytes_ = 0, damaged_bytes_ = 0, unknown_records_ = 0;
  CallJoin join_;
  Completions completions_;
  std::optional<KernelFollower> follower_;
  ObservedTasks observed_;
  OperationNames names_;
  DeviceMeter devices_;
  SyscallTable syscalls_;
  LibraryReport libcufile_, torch_;
  GpuFileCalls gpu_files_;
  GpuFileGaps gpu_file_gaps_;
  KernelLosses losses_;
  OutsideReads outside_reads_;
  int64_t nameless_files_ = 0, silent_processes_ = 0;
  int64_t throttled_ = 0, throttled_ns_ = 0;  // waits because too many pages were dirty
  int64_t requests_ = 0, parts_ = 0, waits_ = 0, file_ops_ = 0, remotes_ = 0, page_adds_ = 0, gpu_file_calls_ = 0;
  int64_t torch_memories_ = 0;
  uint64_t torch_unread_ = 0;
};

}  // namespace mlrun::trace
