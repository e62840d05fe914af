// SPDX-License-Identifier: Apache-2.0
#include "kprobes/proc/process_snapshots.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kprobes/proc/proc_facts.h"
#include "runner/util/clock.h"
#include "runner/util/proc_files.h"

namespace mlrun::probes {

namespace {

constexpr uint64_t kShareOfFiles = 10;  // reading open files takes at most 1/kShareOfFiles of the time
constexpr uint64_t kStepNs = 3'000'000;
constexpr uint64_t kDrainNs = 3'000'000;  // while /proc is read, the rings are drained at this interval

template <typename Record>
bool is_a(const mlrun_kernel_head& head, mlrun_kernel_kind kind, const void* data, size_t bytes, Record& record) {
  if (head.kind != kind || bytes < sizeof record) return false;
  __builtin_memcpy(&record, data, sizeof record);
  return true;
}

}  // namespace

void ProcessSnapshots::follow(int pidfd) {
  const uint32_t pid = pid_of(pidfd);
  asked_for_some_ = true;
  if (pid == 0) return;
  new_.insert(pid);
  living_.insert(pid);
}

void ProcessSnapshots::await_exec(int pidfd) {
  if (const uint32_t pid = pid_of(pidfd); pid != 0) known_.insert(pid);
}

void ProcessSnapshots::take(const mlrun_kernel_head& head, const void* record, size_t bytes) {
  mlrun_task task{};
  mlrun_file_op operation{};
  mlrun_page_add pages{};
  mlrun_bio_fragment fragment{};
  mlrun_file_path path{};
  mlrun_cufile_call cufile{};
  if (is_a(head, MLRUN_KERNEL_TASK, record, bytes, task)) {
    take_task(task);
    return;
  }
  if (is_a(head, MLRUN_KERNEL_FILE_OP, record, bytes, operation)) {
    if ((operation.flags & MLRUN_FILE_CREATED) != 0) {
      files_.forget(operation.device, operation.inode, operation.begin_ns);
    }
    take_file(head.pid, operation.device, operation.inode);
  } else if (is_a(head, MLRUN_KERNEL_FILE_PATH, record, bytes, path)) {
    files_.note(path.device, path.inode, head.time_ns);
  } else if (is_a(head, MLRUN_KERNEL_PAGES, record, bytes, pages)) {
    take_file(head.pid, pages.device, pages.inode);
  } else if (is_a(head, MLRUN_KERNEL_FRAGMENT, record, bytes, fragment) &&
             (fragment.flags & MLRUN_BLOCK_DEVICE_INODE) == 0) {
    take_file(head.pid, fragment.file_device, fragment.inode);
  } else if (is_a(head, MLRUN_KERNEL_CUFILE, record, bytes, cufile) && cufile.inode != 0) {
    take_file(head.pid, cufile.device, cufile.inode);
  }
  // A process that completes a request or writes a journal does so for others: it needs no description.
  const bool is_of_kernel = head.kind == MLRUN_KERNEL_REQUEST || (fragment.flags & MLRUN_BLOCK_METADATA_WRITE) != 0;
  if (!is_of_kernel && head.pid != 0 && !known_.contains(head.pid)) new_.insert(head.pid);
}

void ProcessSnapshots::take_task(const mlrun_task& task) {
  if (task.event == MLRUN_TASK_EXEC) {
    new_.insert(task.head.pid);
    has_execed_ = has_execed_ || (task.head.pid == asked_pid_ && task.head.time_ns >= asked_ns_);
  }
  if (task.head.pid != task.head.tid) return;
  if (task.event == MLRUN_TASK_FORK) {
    new_.insert(task.head.pid);
    if (asked_for_some_) living_.insert(task.head.pid);
  } else if (task.event == MLRUN_TASK_EXIT) {
    known_.erase(task.head.pid);  // its pid may be reused
  }
}

// Queues a process that used a file without a recorded name: it may still have the file open.
void ProcessSnapshots::take_file(uint32_t pid, uint32_t device, uint64_t inode) {
  if (inode != 0 && !files_.has(device, inode)) opened_.insert(pid);
}

bool ProcessSnapshots::read() {
  const uint64_t began_ns = util::monotonic_ns();
  while (!new_.empty()) {
    read_process(take_next(new_));
    if (util::monotonic_ns() - began_ns >= kStepNs) break;
  }
  if (new_.empty()) read_files();
  return !new_.empty();
}

uint32_t ProcessSnapshots::take_next(std::set<uint32_t>& pids) {
  auto next = pids.upper_bound(last_pid_);
  if (next == pids.end()) next = pids.begin();
  last_pid_ = *next;
  pids.erase(next);
  return last_pid_;
}

void ProcessSnapshots::read_process(uint32_t pid) {
  known_.insert(pid);
  opened_.erase(pid);
  if (!record_process(pid)) return;
  record_threads(pid);
  files_.read_mapped(pid);
  files_.read_open(pid);
}

void ProcessSnapshots::read_files() {
  const uint64_t began_ns = util::monotonic_ns();
  if (opened_.empty() || began_ns < next_files_ns_) return;
  uint64_t now_ns = began_ns;
  while (!opened_.empty() && now_ns - began_ns < kStepNs) {
    files_.read_open(take_next(opened_));
    now_ns = util::monotonic_ns();
  }
  next_files_ns_ = now_ns + (now_ns - began_ns) * (kShareOfFiles - 1);
}

void ProcessSnapshots::drain_if_due() {
  const uint64_t now_ns = util::monotonic_ns();
  if (now_ns - drained_ns_ < kDrainNs) return;
  drained_ns_ = now_ns;
  drain_();
}

// Drops facts that were read during an exec and may mix both programs: the exec queues the process again.
bool ProcessSnapshots::record_process(uint32_t pid) {
  asked_pid_ = pid;
  asked_ns_ = util::monotonic_ns();
  has_execed_ = false;
  const std::string text = process_text(pid);
  drain_();
  asked_pid_ = 0;
  if (has_execed_) return false;
  if (text.empty()) return false;
  mlrun_process_seen head{};
  head.head.kind = MLRUN_KERNEL_PROCESS;
  head.head.time_ns = asked_ns_;
  head.head.pid = head.head.tid = pid;
  head.text_bytes = static_cast<uint32_t>(text.size());
  return spool_.add_with_text(head, text);
}

void ProcessSnapshots::record_threads(uint32_t pid) {
  const uint64_t now_ns = util::monotonic_ns();
  for (const uint32_t tid : util::numbers_in(fmt::format("/proc/{}/task", pid))) {
    mlrun_task record{};
    record.head.kind = MLRUN_KERNEL_TASK;
    record.head.bytes = sizeof record;
    record.head.time_ns = now_ns;
    record.head.pid = pid;
    record.head.tid = tid;
    record.event = MLRUN_TASK_SEEN;
    util::read_comm(pid, record.head.tid).copy(record.comm, sizeof record.comm);
    spool_.add(&record, sizeof record, now_ns);
    drain_if_due();
  }
}

bool ProcessSnapshots::all_ended() {
  if (!asked_for_some_) return false;
  std::erase_if(living_, [](uint32_t pid) { return !lives(pid); });
  return living_.empty();
}

}  // namespace mlrun::probes
