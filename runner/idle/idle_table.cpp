// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/idle_table.h"

#include "runner/parquet/row_columns.h"

namespace mlrun::idle {

using tables::kDelta;
using tables::kSplit;

struct IdleColumns {
  static constexpr const char* kTable = "gpu_idle";
  static void visit(auto& visitor, const model::IdleRow& row, const IdleThread& thread) {
    using model::CallSplit;
    visitor("ts", row.ts_ns, kDelta);
    visitor("dur", row.dur_ns, kSplit);
    visitor("gap_id", row.gap_id, kDelta);
    visitor.optional("gpu_id", row.gpu_id, 0);
    visitor.label("label", row.label, model::kIdleLabelNames);
    visitor.optional("proc_id", thread.proc_id, 0);
    visitor.optional("thread_id", row.thread_id, 0);
    visitor.optional("pid", thread.pid, 0);
    visitor.optional("tid", thread.tid, 0);
    visitor.optional("call_id", row.call_id, 0);
    visitor.optional("file_id", row.file_id, 0);
    visitor.label("proof", row.proof, model::kIdleProofNames);
    visitor.optional("proof_ts", row.proof_ts_ns, 0, kDelta);
    visitor.optional("first_call_id", row.first_call_id, 0);
    visitor("hops", row.hops);
    visitor.label("link", row.link, model::kIdleLinkNames);
    visitor.optional("launch_thread_id", row.launch_thread_id, 0);
    visitor("correlation_id", row.correlation, kSplit);
    visitor.optional("mark_id", row.mark_id, 0, kDelta);
    visitor.optional("stack_id", row.python_stack_id, 0);
    visitor.optional("python_line", thread.python_line);
    visitor.optional("own_ns", row.split, &CallSplit::own_ns);
    visitor.optional("runq_ns", row.split, &CallSplit::runq_ns);
    visitor.optional("vfs_ns", row.split, &CallSplit::vfs_ns);
    visitor.optional("queue_ns", row.split, &CallSplit::queue_ns);
    visitor.optional("device_ns", row.split, &CallSplit::device_ns);
    visitor.optional("remote_ns", row.split, &CallSplit::remote_ns);
    visitor.optional("wait_ns", row.split, &CallSplit::wait_ns);
  }
};

}  // namespace mlrun::idle

template class mlrun::tables::RowTable<mlrun::idle::IdleColumns, mlrun::model::IdleRow, mlrun::idle::IdleThread>;

namespace mlrun::idle {

IdleTable::IdleTable(const model::TraceInfo& info) : info_(info) {
  std::unordered_map<int32_t, int32_t> pids;
  for (const model::ProcessRow& process : info.processes) pids[process.proc_id] = process.pid;
  for (const model::ThreadRow& thread : info.threads) {
    threads_[thread.thread_id] = {thread.proc_id, pids[thread.proc_id], thread.tid, {}};
  }
}

Status IdleTable::add(const model::IdleRow& row) {
  const auto found = threads_.find(row.thread_id);
  IdleThread thread = found == threads_.end() ? IdleThread() : found->second;
  const int32_t frame_id = row.python_frame_id;
  if (frame_id != 0) thread.python_line = model::python_line(info_.stacks.frame(frame_id));
  table_.add(row, thread);
  return table_.end_full_group();
}

}  // namespace mlrun::idle
