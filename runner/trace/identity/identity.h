// SPDX-License-Identifier: Apache-2.0
// Joins the spool's records of processes, images and threads into rows with ids, and gives each channel the ids for its
// rows.
//
//   process         all process numbers with the same pid, pid namespace and start time: exec gives a new number,
//                   but not a new process
//   process image   a process number with one of its image numbers; a forked child starts with its parent's image
//                   number, but has its own row
//   thread          channels of one image with the same tid, unless the earlier one had ended when the later one began;
//                   a thread exists from its recorded creation on, or from the first wait of another thread that it
//                   ended, even if it recorded nothing itself
//
// Ids count from 1 in order of first appearance in time, then of the producers' numbers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/identity/thread_numbers.h"
#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/string_table.h"

namespace mlrun::trace {

class Identity {
 public:
  // Requires: notes.place() was called. All references outlive it.
  Identity(SpoolChannels& channels, ProcessNotes& notes, StringTable& strings, const TraceClock& clock);

  // Fills processes, images and threads, and the channels' origins.
  void resolve(model::TraceInfo& info);
  // Requires: resolve() was called.
  [[nodiscard]] ThreadNumbers take_thread_numbers() { return std::move(numbers_); }

 private:
  struct Process {
    std::vector<const ProcessFacts*> instances;  // in order of time
    [[nodiscard]] const ProcessFacts& first() const { return *instances.front(); }
    [[nodiscard]] const ProcessFacts& last() const { return *instances.back(); }
  };
  // Times of a channel's first and last record.
  struct Life {
    int64_t first_ns = 0, last_ns = 0;
    auto operator<=>(const Life&) const = default;
  };
  // The beginning of a thread: that of one of its channels, or a note about it on another thread's channel.
  struct Begin {
    Life life;
    bool is_channel = false;
    size_t index = 0;  // of the channel, or of the note
  };
  struct Latest {
    int32_t thread_id = 0;
    int64_t ended_ns = kLatestNs;
  };
  [[nodiscard]] Life life_of(const Channel& channel) const;
  [[nodiscard]] std::vector<Begin> thread_beginnings();
  model::ThreadRow& begin_thread(model::TraceInfo& info, const Channel& channel, uint32_t tid, int64_t first_ns,
                                 Latest& latest);
  void prolong_threads(model::TraceInfo& info);
  void join_instances();
  [[nodiscard]] Process* earlier_image(const ProcessFacts& facts);
  void add_process_rows(model::TraceInfo& info);
  [[nodiscard]] model::ProcessRow process_row(const Process& process, int32_t proc_id);
  void fill_from_images(const Process& process, model::ProcessRow& row);
  void add_images(model::TraceInfo& info);
  void add_threads(model::TraceInfo& info);
  void name_threads(model::TraceInfo& info);
  void inherit_modules(const model::TraceInfo& info);

  SpoolChannels& channels_;
  ProcessNotes& notes_;
  StringTable& strings_;
  const TraceClock& clock_;
  std::vector<Process> processes_;  // index + 1: proc_id
  std::map<uint32_t, int32_t> proc_of_number_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<size_t>> by_pid_;  // namespace and pid: indexes of processes_
  std::map<std::pair<uint32_t, uint32_t>, int32_t> images_;              // process and image number: image_id
  ThreadNumbers numbers_;
  std::vector<std::pair<std::pair<uint32_t, uint32_t>, int32_t>> numbered_;  // process number and tid: thread_id
};

}  // namespace mlrun::trace
