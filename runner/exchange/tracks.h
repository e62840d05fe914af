// SPDX-License-Identifier: Apache-2.0
// The tracks of a time line: finds or makes that of a row, and announces each to the sink once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/exchange/export.h"
#include "runner/exchange/timeline_sink.h"
#include "runner/exchange/timeline_tables.h"

namespace mlrun::exchange {

class Tracks {
 public:
  explicit Tracks(TimelineSink& sink) : sink_(&sink) {}
  // Reads the names of processes, threads, GPUs and devices.
  Status load(Export& job);
  // The rows that follow are of this node: the names of its tracks at the top begin with its name.
  void begin_node(const ExportNode& node);

  // The track of the current row.
  TrackId of_row(const TimelineTable& table, const OrderedRows& row);
  // The track of the current row's thread, also if the row is on another track.
  TrackId thread_of(const TimelineTable& table, const OrderedRows& row);
  // The track, in a group of counters, for the values of the row's key columns.
  TrackId of_key(TrackId group, const TimelineTable& table, const OrderedRows& row);
  // The track of that name below another one.
  TrackId child(TrackId parent, TrackKind kind, const std::string& name);
  // One more lane of a track.
  TrackId add_lane(TrackId track);
  [[nodiscard]] const Track& track(TrackId id) const { return tracks_[id - 1]; }

 private:
  struct Process {
    int64_t pid = 0;
    std::string name;
  };
  struct Thread {
    int64_t proc_id = 0, tid = 0;
    std::string name;
  };

  // A process or thread with pid or tid 0 gets a made-up one.
  TrackId make(TrackId parent, TrackKind kind, std::string name, int64_t pid, int64_t tid);
  // A track at the top, with the name of the current node.
  TrackId of_node(TrackKind kind, const std::string& name) { return child(0, kind, node_prefix_ + name); }
  TrackId stream(int64_t gpu_id, int64_t proc_id, int64_t context, int64_t stream, int64_t pid);
  TrackId process(int64_t proc_id, int64_t pid);
  TrackId thread(int64_t thread_id, int64_t proc_id, int64_t pid, int64_t tid);
  TrackId gpu(int64_t gpu_id);

  TimelineSink* sink_;
  std::vector<Track> tracks_;
  std::unordered_map<int64_t, Process> processes_;              // by proc_id
  std::unordered_map<int64_t, Thread> threads_;                 // by thread_id
  std::unordered_map<int64_t, std::string> gpus_;               // names by gpu_id
  std::map<std::pair<int64_t, int64_t>, std::string> devices_;  // names by node_id, dev
  int64_t node_id_ = 0;
  std::string node_prefix_;                                                    // of names
  std::unordered_map<int64_t, std::string> node_prefixes_;                     // by node_id
  std::unordered_map<int64_t, TrackId> gpu_tracks_;                            // by gpu_id
  std::map<std::pair<int64_t, int64_t>, TrackId> process_tracks_;              // by proc_id, pid
  std::map<std::tuple<TrackId, int64_t, int64_t>, TrackId> thread_tracks_;     // by process, thread_id, tid
  std::map<std::pair<TrackId, std::string>, TrackId> children_, key_tracks_;   // by name; by the values of the keys
  std::vector<TrackId> track_of_thread_;                                       // by thread_id
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, TrackId> streams_;  // by gpu_id, proc_id, context, stream
  std::map<std::pair<int64_t, int64_t>, int> taken_;  // number of tracks by pid and tid (tid 0: the process)
};

}  // namespace mlrun::exchange
