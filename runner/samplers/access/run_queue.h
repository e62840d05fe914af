// SPDX-License-Identifier: Apache-2.0
// How much of the time a process could run. What a rung takes from a program that waits for a processor most of the time is a larger share of what it gets
// done.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

namespace mlrun::access {

// Of its threads, added up.
struct RunQueue {
  uint64_t ran_ns = 0;     // on a processor
  uint64_t waited_ns = 0;  // ready, and another program had the processor
};

// All 0 if it has ended, or the kernel does not count.
RunQueue run_queue_of(pid_t pid);

// The share of the time between two moments in which it could run, asleep or not: that of its busy threads if it has several. 1 if threads that counted
// have ended.
inline double could_run(const RunQueue& before, const RunQueue& now, uint64_t elapsed_ns) {
  if (now.ran_ns < before.ran_ns || now.waited_ns < before.waited_ns) return 1;
  const uint64_t waited_ns = now.waited_ns - before.waited_ns;
  const uint64_t all_ns = std::max(elapsed_ns, now.ran_ns - before.ran_ns + waited_ns);
  return all_ns == 0 ? 1 : 1 - static_cast<double>(waited_ns) / static_cast<double>(all_ns);
}

// How much longer a process has to be left alone that was for `elapsed_ns`, until it could run for `rest_ns`. At most kMostStretch times the rest in all: windows
// should be seen on a busy machine too.
constexpr uint64_t kMostStretch = 4;
inline uint64_t rest_missing_ns(uint64_t rest_ns, uint64_t elapsed_ns, double share) {
  const auto wanted_ns = static_cast<double>(rest_ns) / std::max(share, 1.0 / kMostStretch);
  return static_cast<uint64_t>(std::max(0.0, wanted_ns - static_cast<double>(elapsed_ns)));
}

}  // namespace mlrun::access
