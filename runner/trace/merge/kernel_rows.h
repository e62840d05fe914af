// SPDX-License-Identifier: Apache-2.0
// The event tables of the kernel side: each record of its spool becomes a row, with the thread, file and call that it is about.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "runner/decode/kernel_view.h"
#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"
#include "runner/trace/files/files_by_inode.h"
#include "runner/trace/gpu/gpu_file_calls.h"
#include "runner/trace/gpu/gpu_file_rows.h"
#include "runner/trace/gpu/torch_memory_table.h"
#include "runner/trace/identity/thread_finder.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/kernel/completions.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/kernel/kernel_follower.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/trace/kernel/memory_table.h"
#include "runner/trace/kernel/remote_table.h"
#include "runner/trace/merge/kernel_totals.h"
#include "runner/trace/observed/operation_names.h"
#include "runner/trace/observed/unseen_processes.h"
#include "runner/trace/rows/ordered_table.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// What the records are joined with: each part has all records and all calls. What was recorded in the run.
struct KernelSources {
  const CallJoin& join;
  const OperationNames& names;
  Completions& completions;  // counts the operations whose completion is missing
  GpuFileCalls& gpu_files;   // receives operations
  KernelFollower*
      follower;  // reads ahead in the spool, for the fragments that operations waited for; nullptr: no waits
  summary::Builder& builder;  // receives calls of libcufile, PyTorch's memory, and file operations inside no call
  int64_t events_from_ns;     // --last freed the calls before it; 0: none
  bool has_calls, lacks_faults, by_system_calls, follows_cufile, follows_torch;
};

class KernelRows {
 public:
  // Requires: `info` has all processes and threads; what `from` refers to outlives the rows.
  KernelRows(const KernelSources& from, const model::TraceInfo& info, FilesByInode inodes);
  KernelRows(const KernelRows&) = delete;
  KernelRows& operator=(const KernelRows&) = delete;

  Status open(const std::string& tables_folder);
  // Adds the record's row. Requires: records come in the order of the spool. Ignores records that are shorter than their
  // kind, or of an unknown kind.
  Status add(const decode::KernelReader& reader);
  Result<KernelTotals> close();

 private:
  Status take(const mlrun_block_request& record);
  Status take(const mlrun_bio_fragment& record);
  Status take(const mlrun_wait& record);
  Status take(const mlrun_file_op& record);
  Status take(const mlrun_kernel_loss& loss);
  Status take(const mlrun_remote& record);
  Status take(const mlrun_cufile_part& part);
  Status take(const mlrun_cufile_call& record);
  Status take(const mlrun_torch_memory& record);
  Status take(const mlrun_memory_seen& record);
  Status take(const mlrun_syscall_sum& record);
  // Sets the times and the thread of a row from the head of its record.
  void begin_row(auto& row, uint64_t began_ns);
  void add_up(const FileOpRow& row);
  bool has_sync_inside(const mlrun_file_op& record);
  Status unreadable();

  KernelSources from_;
  KernelTotals totals_;
  ThreadFinder threads_;
  UnseenProcesses unseen_;
  FilesByInode inodes_;
  std::unordered_set<uint64_t> synced_inside_;  // outermost operations in progress with an fsync inside
  OrderedTable<RequestTable> requests_;
  OrderedTable<FragmentTable> fragments_;
  OrderedTable<WaitTable> waits_;
  OrderedTable<FileOpTable> file_ops_;
  OrderedTable<RemoteTable> remotes_;
  OrderedTable<MemoryTable> memory_;
  GpuFileRows gpu_files_;
  OrderedTable<TorchMemoryTable> torch_memories_;
  size_t fragment_number_ = 0, file_op_number_ = 0,
         remote_number_ = 0;  // of the next record, in the order of the spool
};

}  // namespace mlrun::trace
