// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/observed_tasks.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/trace/kernel/kernel_losses.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr int64_t kLateNs = 1'000'000'000;  // process ids are not reused this soon

int64_t time_of(const mlrun_kernel_head& head) { return TraceClock::from_monotonic(head.time_ns); }

}  // namespace

void ObservedTasks::add(const decode::KernelReader& reader) {
  reader.visit(decode::Visitor{
      [&](const mlrun_task& task) {
        add_event({time_of(task.head), task, {}}, tasks_left_out_);
      },
      [&](const mlrun_process_seen& process) {
        mlrun_task task{};
        task.head = process.head;
        const auto facts = reader.text_behind(sizeof process, process.text_bytes);
        if (!facts.empty()) add_event({time_of(task.head), task, std::string(facts)}, snapshots_left_out_);
      },
  });
  files_.add(reader);
}

void ObservedTasks::add_event(Event event, uint64_t& left_out) {
  if (events_.size() < limits_.events && texts_.take(event.facts.size())) {
    events_.push_back(std::move(event));
  } else {
    ++left_out;
  }
}

void ObservedTasks::finish(model::TraceInfo& info, int64_t end_ns) {
  const size_t before = info.processes.size();
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.ts_ns < b.ts_ns; });
  for (const Event& event : events_) take(info, event);
  if (!events_.empty()) end_ns = std::max(end_ns, events_.back().ts_ns);
  for (const auto& [pid, process] : processes_) info.processes[process.row].last_ns = end_ns;
  for (const auto& [tid, thread] : threads_) info.threads[thread.row].last_ns = end_ns;
  for (size_t i = before; i < info.processes.size(); ++i) {
    unnamed_ += info.processes[i].start_ticks == 0 && !info.processes[i].forked ? 1 : 0;
  }
  name_what_is_left(info);
  files_.finish(info.files);
  events_ = {};
}

// /proc may show a process or thread for a moment after the kernel recorded its exit.
bool ObservedTasks::comes_too_late(const Event& event) const {
  const auto is_late = [&](int64_t ended_ns) { return event.ts_ns - ended_ns < kLateNs; };
  const bool is_snapshot = !event.facts.empty() || event.task.event == MLRUN_TASK_SEEN;
  if (!is_snapshot && event.task.event != MLRUN_TASK_EXIT) return false;
  if (event.facts.empty() && !threads_.contains(event.task.head.tid)) {
    const auto thread = ended_threads_ns_.find(event.task.head.tid);
    if (thread != ended_threads_ns_.end() && is_late(thread->second)) return true;
  }
  if (processes_.contains(event.task.head.pid)) return false;
  const auto ended = ended_.find(event.task.head.pid);
  return ended != ended_.end() && is_late(ended->second.ns);
}

void ObservedTasks::take(model::TraceInfo& info, const Event& event) {
  if (comes_too_late(event)) return;
  if (!event.facts.empty()) {
    take_facts(info, event);
    return;
  }
  switch (static_cast<mlrun_task_event>(event.task.event)) {
    case MLRUN_TASK_FORK:
      if (event.task.head.pid == event.task.head.tid) begin_process(info, event);
      thread_of(info, event);
      break;
    case MLRUN_TASK_EXEC: begin_image(info, event); break;
    case MLRUN_TASK_SEEN: thread_of(info, event).comm = util::field_text(event.task.comm); break;
    case MLRUN_TASK_EXIT: end_thread(info, event); break;
  }
}

ObservedTasks::Process& ObservedTasks::begin_process(model::TraceInfo& info, const Event& event) {
  const auto [pid, tid] = std::pair(event.task.head.pid, event.task.head.tid);
  end_process(info, pid, event.ts_ns);  // its exit record was lost
  model::ProcessRow row;
  row.proc_id = static_cast<int32_t>(info.processes.size()) + 1;
  row.pid = static_cast<int32_t>(pid);
  row.first_ns = row.last_ns = event.ts_ns;
  model::ImageRow image;
  if (event.facts.empty() && event.task.event == MLRUN_TASK_FORK && pid == tid) {  // it runs its parent's program
    row.forked = true;
    row.ppid = static_cast<int32_t>(event.task.parent);
    if (const auto parent = processes_.find(event.task.parent); parent != processes_.end()) {
      row.parent_proc_id = info.processes[parent->second.row].proc_id;
      row.command = info.processes[parent->second.row].command;
      image = info.images[parent->second.image];
    }
  }
  image.image_id = static_cast<int32_t>(info.images.size()) + 1;
  image.proc_id = row.proc_id;
  image.start_ns = event.ts_ns;
  Process& process = processes_[pid];
  process.row = info.processes.size();
  process.image = info.images.size();
  info.processes.push_back(std::move(row));
  info.images.push_back(std::move(image));
  return process;
}

// A process that ended according to its records, but then execs or starts a thread, has not ended: it had a thread that
// was not recorded.
ObservedTasks::Process& ObservedTasks::process_of(model::TraceInfo& info, const Event& event) {
  const uint32_t pid = event.task.head.pid;
  if (const auto living = processes_.find(pid); living != processes_.end()) return living->second;
  const auto ended = ended_.find(pid);
  if (ended == ended_.end() || event.ts_ns - ended->second.ns >= kLateNs) return begin_process(info, event);
  Process& process = processes_[pid] = std::move(ended->second.process);
  ended_.erase(ended);
  return process;
}

model::ThreadRow& ObservedTasks::thread_of(model::TraceInfo& info, const Event& event) {
  const auto [pid, tid] = std::pair(event.task.head.pid, event.task.head.tid);
  Process& process = process_of(info, event);
  const int32_t image_id = info.images[process.image].image_id;
  if (const auto known = threads_.find(tid); known != threads_.end()) {
    model::ThreadRow& row = info.threads[known->second.row];
    if (row.image_id == image_id) return row;
    row.last_ns = event.ts_ns;
    if (const auto owner = processes_.find(known->second.pid); owner != processes_.end())
      owner->second.threads.erase(tid);
  }
  model::ThreadRow row;
  row.thread_id = static_cast<int32_t>(info.threads.size()) + 1;
  row.proc_id = info.processes[process.row].proc_id;
  row.image_id = image_id;
  row.tid = static_cast<int32_t>(tid);
  row.first_ns = row.last_ns = event.ts_ns;
  row.comm = util::field_text(event.task.comm);
  threads_[tid] = {info.threads.size(), pid};
  process.threads.insert(tid);
  return info.threads.emplace_back(std::move(row));
}

// The thread that calls exec continues alone, with the process's id. If it was not the first thread, the kernel has
// recorded the first one's exit, and records none for its own tid.
void ObservedTasks::begin_image(model::TraceInfo& info, const Event& event) {
  Process& process = process_of(info, event);
  end_threads(info, process, event.ts_ns);
  process.leader_ended = false;
  model::ProcessRow& row = info.processes[process.row];
  row.forked = false;
  row.start_ticks = 0;  // until /proc was read again
  row.command.clear();
  model::ImageRow image;
  image.image_id = static_cast<int32_t>(info.images.size()) + 1;
  image.proc_id = row.proc_id;
  image.start_ns = event.ts_ns;
  process.image = info.images.size();
  info.images.push_back(std::move(image));
  thread_of(info, event);
}

// A process ends with its last thread. On exit_group the first thread's exit may be recorded before the others', and
// with pthread_exit it may end long before them.
void ObservedTasks::end_thread(model::TraceInfo& info, const Event& event) {
  const auto [pid, tid] = std::pair(event.task.head.pid, event.task.head.tid);
  if (pid == tid) {
    thread_of(info, event);  // may be the only record of a process that ran before
    processes_[pid].leader_ended = true;
  }
  const auto thread = threads_.find(tid);
  if (thread == threads_.end() || thread->second.pid != pid) return;
  info.threads[thread->second.row].last_ns = event.ts_ns;
  threads_.erase(thread);
  ended_threads_ns_[tid] = event.ts_ns;
  Process& process = processes_[pid];
  process.threads.erase(tid);
  if (process.leader_ended && process.threads.empty()) end_process(info, pid, event.ts_ns);
}

void ObservedTasks::end_threads(model::TraceInfo& info, Process& process, int64_t ts_ns) {
  for (const uint32_t tid : process.threads) {
    info.threads[threads_[tid].row].last_ns = ts_ns;
    threads_.erase(tid);
    ended_threads_ns_[tid] = ts_ns;
  }
  process.threads.clear();
}

void ObservedTasks::end_process(model::TraceInfo& info, uint32_t pid, int64_t ts_ns) {
  const auto living = processes_.find(pid);
  if (living == processes_.end()) return;
  end_threads(info, living->second, ts_ns);
  info.processes[living->second.row].last_ns = ts_ns;
  info.processes[living->second.row].ended = true;
  ended_[pid] = {ts_ns, std::move(living->second)};
  processes_.erase(living);
}

void ObservedTasks::take_facts(model::TraceInfo& info, const Event& event) {
  const json facts = util::parse_json(event.facts);
  if (!facts.is_object()) return;
  const Process& living = process_of(info, event);
  model::ProcessRow& process = info.processes[living.row];
  process.ppid = static_cast<int32_t>(util::integer_at(facts, "/ppid", process.ppid));
  process.uid = util::integer_at(facts, "/uid", process.uid);
  process.start_ticks = util::integer_at(facts, "/start_ticks", process.start_ticks);
  process.ns_pid = static_cast<int32_t>(util::integer_at(facts, "/ns_pid", process.ns_pid));
  process.pid_namespace = util::integer_at(facts, "/pid_namespace", process.pid_namespace);
  process.cgroup = util::text_at(facts, "/cgroup");
  process.command = util::text_at(facts, "/command");
  model::ImageRow& image = info.images[living.image];
  image.exe = util::text_at(facts, "/exe");
  image.cwd = util::text_at(facts, "/cwd");
  image.arguments = process.command;
}

// Uses the first thread's name, as ps does for processes without arguments.
void ObservedTasks::name_what_is_left(model::TraceInfo& info) {
  for (auto row = info.threads.rbegin(); row != info.threads.rend(); ++row) {  // the last program names the process
    const model::ThreadRow& thread = *row;
    if (thread.proc_id <= 0 || static_cast<size_t>(thread.proc_id) > info.processes.size()) continue;
    model::ProcessRow& process = info.processes[static_cast<size_t>(thread.proc_id) - 1];
    if (process.pid == thread.tid && process.command.empty() && !thread.comm.empty()) {
      process.command = "[" + thread.comm + "]";
    }
  }
}

void ObservedTasks::add_gaps(const model::Run& session, int64_t nameless_files, model::TraceInfo& info) const {
  add_kernel_loss(info, kTooMany, tasks_left_out_, "begins, execs and ends of threads");
  add_kernel_loss(info, kTooMany, snapshots_left_out_, "/proc snapshots of processes");
  files_.add_gaps(info);
  if (!session.observed) return;
  const auto add = [&](std::string subject, std::string detail, int64_t unseen = -1,
                       const char* level = model::kUnseen) {
    info.coverage.push_back({0, std::move(subject), std::move(detail), -1, unseen, level});
  };
  const bool is_command = session.observed->scope == "command";
  add("calls of the C library, allocations and marks",
      is_command ? "--preload is off" : "mlrun cannot load its library into processes that already run");
  if (const auto& children = session.observed->children_before; !children.empty())
    add("children that ran before", "give their pids to --pid to observe them", std::ssize(children));
  if (unnamed_ > 0) add("arguments of processes", "they ended before /proc could be read", unnamed_, model::kRemark);
  if (nameless_files > 0) {
    add("paths of files", "they were closed before /proc could be read", nameless_files, model::kRemark);
  }
}

}  // namespace mlrun::trace
