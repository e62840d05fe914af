// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed_tasks.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/trace/device_number.h"
#include "runner/trace/trace_clock.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr int64_t kLateNs = 1'000'000'000;  // no process number is used again so soon
constexpr size_t kEventsMax = 4 << 20, kFilesMax = 1 << 20;

int64_t time_of(const mlrun_kernel_head& head) { return TraceClock::from_monotonic(head.time_ns); }

std::string comm_text(const mlrun_task& task) {
  const std::string_view all(task.comm, sizeof task.comm);
  return util::escaped_utf8(all.substr(0, all.find('\0')));
}

int64_t number_in(const json& facts, const char* key, int64_t otherwise) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

std::string text_in(const json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The text behind a record's fixed part; empty: the record is shorter than it says.
template <typename Record>
std::string text_behind(const events::KernelReader& reader, uint32_t bytes) {
  return reader.head().bytes >= sizeof(Record) + bytes ? std::string(reader.text(sizeof(Record), bytes))
                                                       : std::string();
}

model::FileKind kind_of(const mlrun_file_seen& file) {
  if (file.as == MLRUN_SEEN_OPEN_FOLDER) return model::FileKind::kDirectory;
  return file.as == MLRUN_SEEN_MAPPED ? model::FileKind::kRegular : model::FileKind::kUnknown;
}

}  // namespace

void ObservedTasks::add(const events::KernelReader& reader) {
  mlrun_task task{};
  mlrun_process_seen process{};
  File file;
  if (reader.head().kind == MLRUN_KERNEL_TASK && reader.read(task)) {
    if (events_.size() < kEventsMax)
      events_.push_back({time_of(task.head), task, {}});
    else
      ++left_out_;
  } else if (reader.head().kind == MLRUN_KERNEL_PROCESS && reader.read(process)) {
    task.head = process.head;
    std::string facts = text_behind<mlrun_process_seen>(reader, process.text_bytes);
    if (!facts.empty() && events_.size() < kEventsMax) events_.push_back({time_of(task.head), task, std::move(facts)});
  } else if (reader.head().kind == MLRUN_KERNEL_FILE_SEEN && reader.read(file.record)) {
    file.path = text_behind<mlrun_file_seen>(reader, file.record.path_bytes);
    if (!file.path.empty() && files_.size() < kFilesMax) files_.push_back(std::move(file));
  }
}

void ObservedTasks::finish(model::TraceInfo& info, int64_t end_ns) {
  const size_t before = info.processes.size();
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.ts_ns < b.ts_ns; });
  for (const Event& event : events_) take(info, event);
  if (!events_.empty()) end_ns = std::max(end_ns, events_.back().ts_ns);
  for (const auto& [pid, index] : processes_) info.processes[index].last_ns = end_ns;
  for (const auto& [tid, index] : threads_) info.threads[index].last_ns = end_ns;
  for (size_t i = before; i < info.processes.size(); ++i) {
    unnamed_ += info.processes[i].start_ticks == 0 && !info.processes[i].forked ? 1 : 0;
  }
  name_what_is_left(info);
  add_files(info.files);
  events_ = {};
}

// A process can be looked at for a moment after the kernel has told of its end.
bool ObservedTasks::comes_too_late(const Event& event) const {
  if (event.facts.empty() && event.task.event == MLRUN_TASK_FORK) return false;
  if (processes_.contains(event.task.head.pid)) return false;
  const auto ended = ended_ns_.find(event.task.head.pid);
  return ended != ended_ns_.end() && event.ts_ns - ended->second < kLateNs;
}

void ObservedTasks::take(model::TraceInfo& info, const Event& event) {
  if (comes_too_late(event)) return;
  if (!event.facts.empty()) {
    take_facts(info, event);
    return;
  }
  const bool is_leader = event.task.head.pid == event.task.head.tid;
  switch (static_cast<mlrun_task_event>(event.task.event)) {
    case MLRUN_TASK_FORK:
      if (is_leader) begin_process(info, event);
      thread_of(info, event);
      break;
    case MLRUN_TASK_EXEC: begin_image(info, event); break;
    case MLRUN_TASK_SEEN: thread_of(info, event).comm = comm_text(event.task); break;
    case MLRUN_TASK_EXIT: end_thread(info, event); break;
  }
}

void ObservedTasks::begin_process(model::TraceInfo& info, const Event& event) {
  const uint32_t pid = event.task.head.pid;
  model::ProcessRow row;
  row.proc_id = static_cast<int32_t>(info.processes.size()) + 1;
  row.pid = row.ns_pid = static_cast<int32_t>(pid);
  row.first_ns = row.last_ns = event.ts_ns;
  model::ImageRow image;
  if (event.task.event == MLRUN_TASK_FORK) {  // it goes on with its parent's program
    row.forked = true;
    row.ppid = static_cast<int32_t>(event.task.parent);
    if (const auto parent = processes_.find(event.task.parent); parent != processes_.end()) {
      row.parent_proc_id = info.processes[parent->second].proc_id;
      row.command = info.processes[parent->second].command;
      image = info.images[images_[event.task.parent]];
    }
  }
  image.image_id = static_cast<int32_t>(info.images.size()) + 1;
  image.proc_id = row.proc_id;
  image.start_ns = event.ts_ns;
  processes_[pid] = info.processes.size();
  images_[pid] = info.images.size();
  info.processes.push_back(std::move(row));
  info.images.push_back(std::move(image));
}

model::ProcessRow& ObservedTasks::process_of(model::TraceInfo& info, const Event& event) {
  if (!processes_.contains(event.task.head.pid)) begin_process(info, event);
  return info.processes[processes_[event.task.head.pid]];
}

model::ThreadRow& ObservedTasks::thread_of(model::TraceInfo& info, const Event& event) {
  const model::ProcessRow& process = process_of(info, event);
  const uint32_t tid = event.task.head.tid;
  const auto known = threads_.find(tid);
  const int32_t image_id = info.images[images_[event.task.head.pid]].image_id;
  if (known != threads_.end() && info.threads[known->second].image_id == image_id) return info.threads[known->second];
  if (known != threads_.end()) info.threads[known->second].last_ns = event.ts_ns;
  model::ThreadRow row;
  row.thread_id = static_cast<int32_t>(info.threads.size()) + 1;
  row.proc_id = process.proc_id;
  row.image_id = image_id;
  row.tid = static_cast<int32_t>(tid);
  row.first_ns = row.last_ns = event.ts_ns;
  row.comm = comm_text(event.task);
  threads_[tid] = info.threads.size();
  return info.threads.emplace_back(std::move(row));
}

// The thread that called exec goes on alone, under the process's number.
void ObservedTasks::begin_image(model::TraceInfo& info, const Event& event) {
  model::ProcessRow& process = process_of(info, event);
  process.forked = false;
  process.start_ticks = 0;  // until somebody has looked again
  process.command.clear();
  model::ImageRow image;
  image.image_id = static_cast<int32_t>(info.images.size()) + 1;
  image.proc_id = process.proc_id;
  image.start_ns = event.ts_ns;
  images_[event.task.head.pid] = info.images.size();
  info.images.push_back(std::move(image));
  thread_of(info, event);
}

void ObservedTasks::end_thread(model::TraceInfo& info, const Event& event) {
  const auto [pid, tid] = std::pair(event.task.head.pid, event.task.head.tid);
  process_of(info, event).last_ns = event.ts_ns;
  thread_of(info, event).last_ns = event.ts_ns;
  threads_.erase(tid);
  if (pid != tid) return;
  ended_ns_[pid] = event.ts_ns;
  processes_.erase(pid);
  images_.erase(pid);
}

void ObservedTasks::take_facts(model::TraceInfo& info, const Event& event) {
  const json facts = json::parse(event.facts, nullptr, false);
  if (!facts.is_object()) return;
  model::ProcessRow& process = process_of(info, event);
  process.ppid = static_cast<int32_t>(number_in(facts, "ppid", process.ppid));
  process.uid = number_in(facts, "uid", process.uid);
  process.start_ticks = number_in(facts, "start_ticks", process.start_ticks);
  process.ns_pid = static_cast<int32_t>(number_in(facts, "ns_pid", process.ns_pid));
  process.pid_namespace = number_in(facts, "pid_namespace", process.pid_namespace);
  process.cgroup = text_in(facts, "cgroup");
  process.command = text_in(facts, "command");
  model::ImageRow& image = info.images[images_[event.task.head.pid]];
  image.exe = text_in(facts, "exe");
  image.cwd = text_in(facts, "cwd");
  image.arguments = process.command;
}

// By the name of the first thread, as ps does with what has no arguments.
void ObservedTasks::name_what_is_left(model::TraceInfo& info) {
  for (auto row = info.threads.rbegin(); row != info.threads.rend(); ++row) {  // the last program is the process's
    const model::ThreadRow& thread = *row;
    if (thread.proc_id <= 0 || static_cast<size_t>(thread.proc_id) > info.processes.size()) continue;
    model::ProcessRow& process = info.processes[static_cast<size_t>(thread.proc_id) - 1];
    if (process.pid == thread.tid && process.command.empty() && !thread.comm.empty()) {
      process.command = "[" + thread.comm + "]";
    }
  }
}

void ObservedTasks::add_gaps(const SessionInfo& session, int64_t nameless_files, model::TraceInfo& info) const {
  if (!session.all.contains("observed")) return;
  const auto add = [&](std::string subject, std::string detail, int64_t unseen = -1) {
    info.coverage.push_back({0, std::move(subject), std::move(detail), -1, unseen});
  };
  add("calls of the C library, allocations and marks", "nothing was loaded into processes that ran already");
  const json children = session.all.value("/observed/children_before"_json_pointer, json::array());
  if (!children.empty()) add("children that ran before", "they are followed if --pid names them", std::ssize(children));
  if (unnamed_ > 0) add("arguments of processes", "they ended before anybody could look", unnamed_);
  if (nameless_files > 0) add("paths of files", "they were closed before anybody could look", nameless_files);
  if (left_out_ > 0) {
    info.losses.push_back(
        {"kernel side", "too many of them", 0, 0, 0, 0, static_cast<int64_t>(left_out_), "processes"});
  }
}

void ObservedTasks::add_files(model::FileTable& files) const {
  for (const File& file : files_) {
    model::FileRow row;
    row.path = util::escaped_utf8(file.path);
    row.raw_path = row.path;
    if (row.path != file.path) row.path_bytes = file.path;
    row.dev = stat_device(file.record.device);
    row.ino = static_cast<int64_t>(file.record.inode);
    row.kind = std::string(model::FileTable::kind_name(kind_of(file.record)));
    files.push_back(row);
  }
}

}  // namespace mlrun::trace
