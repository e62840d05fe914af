// SPDX-License-Identifier: Apache-2.0
// Processes, threads and files of a run that launched nothing: from the kernel's records of fork, exec and exit and from
// what mlrun-probes found in /proc meanwhile. Rows come after those that the interposer's records gave, of which such a
// run has none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/events/kernel_view.h"
#include "runner/model/trace_info.h"
#include "runner/trace/session_info.h"

namespace mlrun::trace {

class ObservedTasks {
 public:
  // A record of any kind; others than those of tasks and files are passed over.
  void add(const events::KernelReader& reader);
  // Requires: everything was added. Adds the rows. `end_ns`: of the run.
  void finish(model::TraceInfo& info, int64_t end_ns);

  // What such a run does not tell, if this was one. `nameless_files`: inodes of the tables without a path.
  void add_gaps(const SessionInfo& session, int64_t nameless_files, model::TraceInfo& info) const;

 private:
  struct Event {
    int64_t ts_ns = 0;
    mlrun_task task{};
    std::string facts;  // JSON; empty: an event of a task
  };
  struct File {
    mlrun_file_seen record{};
    std::string path;
  };
  [[nodiscard]] bool comes_too_late(const Event& event) const;
  void take(model::TraceInfo& info, const Event& event);
  model::ProcessRow& process_of(model::TraceInfo& info, const Event& event);
  void begin_process(model::TraceInfo& info, const Event& event);
  void begin_image(model::TraceInfo& info, const Event& event);
  model::ThreadRow& thread_of(model::TraceInfo& info, const Event& event);
  void end_thread(model::TraceInfo& info, const Event& event);
  void take_facts(model::TraceInfo& info, const Event& event);
  void name_what_is_left(model::TraceInfo& info);
  void add_files(model::FileTable& files) const;

  std::vector<Event> events_;
  std::vector<File> files_;
  // Of what lives at that moment: the row's place, by pid or tid.
  std::map<uint32_t, size_t> processes_, images_, threads_;
  std::map<uint32_t, int64_t> ended_ns_;  // by pid
  int64_t unnamed_ = 0;                   // nobody could read what they were started with
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
