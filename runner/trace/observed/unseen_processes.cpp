// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/unseen_processes.h"

namespace mlrun::trace {

namespace {

constexpr size_t kProcessesMax = 10000;

}  // namespace

UnseenProcesses::UnseenProcesses(const model::TraceInfo& info) {
  for (const model::ProcessRow& process : info.processes) {
    known_.insert(static_cast<uint32_t>(process.pid));
    known_.insert(static_cast<uint32_t>(process.ns_pid));  // its pid in mlrun's namespace may be unknown
  }
}

void UnseenProcesses::add(uint32_t pid) {
  if (pid != 0 && !known_.contains(pid) && unseen_.size() < kProcessesMax) unseen_.insert(pid);
}

void UnseenProcesses::add(const mlrun_bio_fragment& fragment) {
  if ((fragment.flags & (MLRUN_BLOCK_WRITEBACK | MLRUN_BLOCK_METADATA_WRITE)) == 0) add(fragment.head.pid);
}

void UnseenProcesses::add(const mlrun_file_op& operation) {
  const bool moves = operation.op == MLRUN_FILE_READ || operation.op == MLRUN_FILE_WRITE;
  if (moves && operation.outer == 0 && operation.result > 0) add(operation.head.pid);
}

void UnseenProcesses::add(const mlrun_wait& wait) {
  if (known_.empty()) add(wait.head.pid);
}

}  // namespace mlrun::trace
