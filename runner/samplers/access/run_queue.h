// SPDX-License-Identifier: Apache-2.0
// How much of the time a process could run instead of waiting for a processor. For a program that waits most of the time, what a rung costs is a
// larger share of the time in which it runs.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

namespace mlrun::access {

// Sums over the threads of a process.
struct RunQueue {
  uint64_t ran_ns = 0;     // on a processor
  uint64_t waited_ns = 0;  // ready to run, without a processor
};

// All 0 if the process has ended, or the kernel does not count these times.
RunQueue run_queue_of(pid_t pid);

// The share of the time between two readings in which the process did not wait for a processor; sleeping counts as not waiting. For several busy
// threads it is their mean. 1 if a thread has ended and its times are missing from the sums.
inline double could_run(const RunQueue& before, const RunQueue& now, uint64_t elapsed_ns) {
  if (now.ran_ns < before.ran_ns || now.waited_ns < before.waited_ns) return 1;
  const uint64_t waited_ns = now.waited_ns - before.waited_ns;
  const uint64_t all_ns = std::max(elapsed_ns, now.ran_ns - before.ran_ns + waited_ns);
  return all_ns == 0 ? 1 : 1 - static_cast<double>(waited_ns) / static_cast<double>(all_ns);
}

// How much longer a window that is open for `elapsed_ns` has to be, until the process could run for `rest_ns` of it. In all at most kMostStretch
// times `rest_ns`, so that windows end on a busy machine too.
constexpr uint64_t kMostStretch = 4;
inline uint64_t rest_missing_ns(uint64_t rest_ns, uint64_t elapsed_ns, double share) {
  const auto wanted_ns = static_cast<double>(rest_ns) / std::max(share, 1.0 / kMostStretch);
  return static_cast<uint64_t>(std::max(0.0, wanted_ns - static_cast<double>(elapsed_ns)));
}

}  // namespace mlrun::access
