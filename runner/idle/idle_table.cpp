// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/idle_table.h"

#include <vector>

namespace mlrun::idle {

namespace {

template <size_t kCount>
std::vector<std::string> texts(const std::array<std::string_view, kCount>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

IdleTable::IdleTable(const model::TraceInfo& info)
    : info_(info),
      label_(table_.label("label", texts(model::kIdleLabelNames))),
      proof_(table_.label("proof", texts(model::kIdleProofNames))),
      link_(table_.label("link", texts(model::kIdleLinkNames))) {
  for (const model::ThreadRow& thread : info.threads) threads_[thread.thread_id] = thread;
  for (const model::ProcessRow& process : info.processes) pids_[process.proc_id] = process.pid;
}

Status IdleTable::open(const std::string& tables_folder) { return table_.open_in(tables_folder); }

Status IdleTable::add(const model::IdleRow& row) {
  const auto thread = threads_.find(row.thread_id);
  const bool known = thread != threads_.end();
  const int32_t proc_id = known ? thread->second.proc_id : 0;
  const auto pid = pids_.find(proc_id);
  ts_.add(row.ts_ns);
  dur_.add(row.dur_ns);
  gap_id_.add(row.gap_id);
  gpu_id_.add_unless(0, row.gpu_id);
  label_.add(static_cast<size_t>(row.label));
  proc_id_.add_unless(0, proc_id);
  thread_id_.add_unless(0, row.thread_id);
  pid_.add_unless(0, pid == pids_.end() ? 0 : pid->second);
  tid_.add_unless(0, known ? thread->second.tid : 0);
  call_id_.add_unless(0, row.call_id);
  file_id_.add_unless(0, row.file_id);
  first_call_id_.add_unless(0, row.first_call_id);
  proof_ts_.add_unless(0, row.proof_ts_ns);
  hops_.add(row.hops);
  link_.add(static_cast<size_t>(row.link));
  proof_.add(static_cast<size_t>(row.proof));
  launch_thread_id_.add_unless(0, row.launch_thread_id);
  correlation_id_.add(row.correlation);
  mark_id_.add_unless(0, row.mark_id);
  add_python(row);
  add_split(row.split);
  table_.row_added();
  return table_.full() ? table_.end_row_group() : Status();
}

void IdleTable::add_python(const model::IdleRow& row) {
  stack_id_.add_unless(0, row.python_stack_id);
  const int32_t frame_id = row.python_frame_id;
  python_line_.add_unless_empty(frame_id == 0 ? std::string() : model::python_line(info_.stacks.frame(frame_id)));
}

void IdleTable::add_split(const std::optional<model::CallSplit>& split) {
  const auto put = [&](trace::Int64Column& column, int64_t model::CallSplit::*part) {
    split ? column.add((*split).*part) : column.add_null();
  };
  put(own_, &model::CallSplit::own_ns);
  put(runq_, &model::CallSplit::runq_ns);
  put(vfs_, &model::CallSplit::vfs_ns);
  put(queue_, &model::CallSplit::queue_ns);
  put(device_, &model::CallSplit::device_ns);
  put(remote_, &model::CallSplit::remote_ns);
  put(wait_, &model::CallSplit::wait_ns);
}

Status IdleTable::close() {
  if (auto closed = table_.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::idle
