// SPDX-License-Identifier: Apache-2.0
// Processes, threads and files of a run without the library in its processes (--pid, --preload=off): from the kernel's
// records of fork, exec and exit, and from what mlrun-probes read in /proc. Rows are added after those from the
// interposer's records, of which such a run has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/decode/kernel_view.h"
#include "runner/decode/limits.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/observed/observed_files.h"

namespace mlrun::trace {

class ObservedTasks {
 public:
  struct Limits {
    size_t events = decode::kObservedEventsMax, files = decode::kObservedFilesMax,
           text_bytes = decode::kObservedTextBytesMax;
  };
  ObservedTasks() : ObservedTasks(Limits()) {}
  explicit ObservedTasks(const Limits& limits)
      : limits_(limits), texts_(limits.text_bytes), files_(texts_, limits.files) {}
  ObservedTasks(const ObservedTasks&) = delete;
  ObservedTasks& operator=(const ObservedTasks&) = delete;

  // Accepts any record; ignores all but those of tasks and files. Records beyond the limits are counted.
  void add(const decode::KernelReader& reader);
  // Requires: everything was added. Adds the rows. `end_ns`: end of the run.
  void finish(model::TraceInfo& info, int64_t end_ns);

  // Requires: finish() was called.
  [[nodiscard]] const ObservedFiles& files() const { return files_; }

  // Adds rows of loss for what was beyond the limits and, if mlrun observed processes, rows of coverage for what the
  // trace lacks. `nameless_files`: inodes in the tables without a path.
  void add_gaps(const model::Run& session, int64_t nameless_files, model::TraceInfo& info) const;

 private:
  struct Event {
    int64_t ts_ns = 0;
    mlrun_task task{};
    std::string facts;  // JSON; empty: an event of a task
  };
  // A process between its first record and the end of its last thread.
  struct Process {
    size_t row = 0, image = 0;
    std::set<uint32_t> threads;  // known ones, by tid
    bool leader_ended = false;   // its first thread ended; others may still run
  };
  struct Thread {
    size_t row = 0;
    uint32_t pid = 0;
  };
  struct Ended {
    int64_t ns = 0;
    Process process;
  };
  void add_event(Event event, uint64_t& left_out);
  [[nodiscard]] bool comes_too_late(const Event& event) const;
  void take(model::TraceInfo& info, const Event& event);
  Process& process_of(model::TraceInfo& info, const Event& event);
  Process& begin_process(model::TraceInfo& info, const Event& event);
  void begin_image(model::TraceInfo& info, const Event& event);
  model::ThreadRow& thread_of(model::TraceInfo& info, const Event& event);
  void end_thread(model::TraceInfo& info, const Event& event);
  void end_threads(model::TraceInfo& info, Process& process, int64_t ts_ns);
  void end_process(model::TraceInfo& info, uint32_t pid, int64_t ts_ns);
  void take_facts(model::TraceInfo& info, const Event& event);
  void name_what_is_left(model::TraceInfo& info);

  std::vector<Event> events_;
  // Processes and threads that are alive at the current event, by pid or tid.
  std::map<uint32_t, Process> processes_;
  std::map<uint32_t, Thread> threads_;
  // Processes and threads that ended before the current event, by pid or tid.
  std::map<uint32_t, Ended> ended_;
  std::map<uint32_t, int64_t> ended_threads_ns_;
  int64_t unnamed_ = 0;  // ended before their arguments could be read
  Limits limits_;
  TextBudget texts_;
  ObservedFiles files_;
  uint64_t tasks_left_out_ = 0, snapshots_left_out_ = 0;
};

}  // namespace mlrun::trace
