// SPDX-License-Identifier: Apache-2.0
// Finds the thread that ended a wait: it wrote what was read, posted, ended, or woke the waiter according to the kernel; else it is guessed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

enum class Link : uint8_t { kOwn, kPipe, kPost, kEnds, kChild, kWaker, kGuess, kPythonLock };
inline constexpr const char* kLinkNames[] = {"none", "pipe", "post", "end", "child", "waker", "guess", "python lock"};

struct Ender {
  std::vector<int32_t> threads;  // several threads share the wait's time; empty: unknown
  Link link = Link::kOwn;
};

class WaitEnds {
 public:
  explicit WaitEnds(const Timeline& timeline);

  // Requires: the thread has this wait. `looks_on`: if the thread waits again at once, it did not get what it waited for; the result is then that of
  // the later wait. Pass true for the driver only: a thread that passes batches on always waits again at once.
  const Ender& find(int32_t thread_id, const Wait& wait, bool looks_on);
  // The read for which the thread waited; nullptr: none.
  [[nodiscard]] const Read* read_after(int32_t thread_id, const Wait& wait) const;
  // A wait that times out and is repeated at once counts as one wait. Returns the last repetition, or `wait` itself if it was not repeated. Requires:
  // the thread has this wait.
  const Wait& last_of(int32_t thread_id, const Wait& wait);
  // Whether the wait is on a semaphore shared by processes, such as multiprocessing.Lock, which another process posts. The lock of a queue does not
  // count.
  [[nodiscard]] bool is_shared_lock(int32_t thread_id, const Wait& wait) const;
  // Threads of the process, other than `thread_id`, that are in no wait at that time: those that a sample found running, else those that were awake,
  // else all.
  [[nodiscard]] std::vector<int32_t> holders(int32_t proc_id, int32_t thread_id, Ns moment_ns) const;
  // The sample of a thread that is nearest to the moment, at most `within_ns` away; nullptr: none.
  [[nodiscard]] const StackSample* sample_near(int32_t thread_id, Ns moment_ns, Ns within_ns) const;

 private:
  [[nodiscard]] static bool is_asleep(const Thread& thread, Ns moment_ns);
  Ender search(int32_t thread_id, const Wait& wait, bool looks_on);
  void find_shared_locks();
  [[nodiscard]] const Wait* made_again(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] const Wait* next_poll(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] int32_t writer(int32_t thread_id, const Wait& wait) const;
  const Ender* next_on_channel(int32_t thread_id, const Wait& wait);
  [[nodiscard]] int32_t ended_child(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] int32_t waited_child(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] int32_t waker(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] std::vector<int32_t> neighbours(int32_t thread_id, const Wait& wait) const;
  [[nodiscard]] int32_t reader_of(int32_t thread_id, int64_t file_id);

  const Timeline& timeline_;
  std::unordered_map<int32_t, std::vector<const Process*>> children_;  // by parent; by the time at which they ended
  std::unordered_set<int64_t> shared_locks_;  // addresses; below 0: -1 - the parent, for spawned processes
  std::unordered_map<const Wait*, Ender> known_;
  std::unordered_map<const Wait*, const Wait*> last_of_;
  std::unordered_map<int64_t, int32_t> readers_;  // by file_id: a thread that reads the file
};

}  // namespace mlrun::blame
