// SPDX-License-Identifier: Apache-2.0
// The times at which a driver gets data, grouped by source: data files, threads of its process, channels, other ranks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct StepEvent {
  Ns start_ns = 0, end_ns = 0;
  Ns waited_ns = 0;     // how long the driver waited
  Ns blocked_ns = 0;    // start of another thread's wait that the driver ended; 0: it ended none
  double opens = 0;     // data files opened
  double bytes = 0;     // bytes read from data files; of kRanks: bytes sent to other ranks
  int32_t made_by = 0;  // thread that the driver waited for; 0: none
  double asks = 0;      // tasks that the driver sent to a thread
  bool ends = false;    // a thread that had waited for the driver ended right after the event

  // Merges a later event of the same batch into this one.
  void add(const StepEvent& then);
};

struct StepSource {
  enum class Kind { kFiles, kThreads, kChannel, kRanks };
  Kind kind = Kind::kThreads;
  std::string comm;                         // name of the threads
  std::vector<StepEvent> events;            // by start
  Ns waited_ns = 0;                         // the driver's waiting in all events
  std::vector<std::pair<Ns, double>> sent;  // of kRanks: time and bytes of what the process sent over sockets, by time
};

// Earliest possible begin of the loop: the end of the last import before the first batch. Without batches: the end of the last
// import. Without imports: the start of the run.
Ns earliest_step(const Timeline& timeline, const Division& division);

// Lists the sources between two times, by name: "files", "thread NAME", "threads that end" or "channel".
std::map<std::string, StepSource> step_sources(const Timeline& timeline, const Division& division, WaitEnds& ends,
                                               Ns from_ns, Ns to_ns);

}  // namespace mlrun::blame
