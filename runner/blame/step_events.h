// SPDX-License-Identifier: Apache-2.0
// The moments at which a driver gets data, by the way on which it gets them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct StepEvent {
  Ns start_ns = 0, end_ns = 0;
  Ns waited_ns = 0;     // by the driver
  Ns blocked_ns = 0;    // since when another thread had waited for the driver, which ended that wait; 0: it did not
  double opens = 0;     // of data files
  double bytes = 0;     // read from data files; sent to other ranks
  int32_t made_by = 0;  // the thread that the driver waited for
  double asks = 0;      // tasks that the driver sent to that thread or another
  bool ends = false;    // a thread that had waited for the driver ended at once

  // A later one, of the same batch.
  void add(const StepEvent& then);
};

struct StepSource {
  enum class Kind { kFiles, kThreads, kChannel, kRanks };
  Kind kind = Kind::kThreads;
  std::string comm;                         // of the threads
  std::vector<StepEvent> events;            // by start
  Ns waited_ns = 0;                         // by the driver, in all
  std::vector<std::pair<Ns, double>> sent;  // of kRanks: bytes that the process sent over sockets, by time
};

// Where the loop may begin: after the last import before the first batch that is known.
Ns earliest_step(const Timeline& timeline, const Division& division);

// By name: "files"; the name of the threads; "channel". Between two moments.
std::map<std::string, StepSource> step_sources(const Timeline& timeline, const Division& division, WaitEnds& ends,
                                               Ns from_ns, Ns to_ns);

}  // namespace mlrun::blame
