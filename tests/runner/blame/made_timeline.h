// SPDX-License-Identifier: Apache-2.0
// A timeline made by hand: a driver and a worker process that sends it batches over a pipe.
#pragma once

#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

inline constexpr Ns kMs = 1'000'000;
inline constexpr int32_t kDriver = 1, kWorkerMain = 2, kFeeder = 3, kHelper = 4;
inline constexpr int64_t kPipe = 1, kTasks = 2, kData = 3;

// Process 1: threads 1 and 4; process 2, a DataLoader worker forked by it: threads 2 and 3. From 0 to `end_ns`.
inline Timeline made_timeline(Ns end_ns) {
  Timeline timeline;
  timeline.end_ns = end_ns;
  timeline.threads.resize(5);
  timeline.processes.resize(3);
  for (int32_t number = 1; number <= 4; ++number) {
    Thread& thread = timeline.threads[static_cast<size_t>(number)];
    thread.thread_id = number;
    thread.tid = 100 + number;
    thread.proc_id = number == kDriver || number == kHelper ? 1 : 2;
    thread.last_ns = end_ns;
    timeline.threads_by_tid.add(thread.tid, {thread.first_ns, thread.last_ns, thread.proc_id, number});
    timeline.processes[static_cast<size_t>(thread.proc_id)].threads.push_back(number);
  }
  for (int32_t number = 1; number <= 2; ++number) {
    Process& process = timeline.processes[static_cast<size_t>(number)];
    process.proc_id = number;
    process.pid = 100 + number;
    process.main = number;
    process.last_ns = end_ns;
  }
  timeline.processes[1].role = "main";
  timeline.processes[2].role = "DataLoader worker";
  timeline.processes[2].parent = 1;
  timeline.processes[2].forked = true;
  using model::FileKind;
  timeline.file_kinds = {0, static_cast<uint8_t>(FileKind::kPipe), static_cast<uint8_t>(FileKind::kPipe),
                         static_cast<uint8_t>(FileKind::kRegular)};
  return timeline;
}

// A process with one thread, which is alive from `first_ns` to `last_ns`. Its number must be the next one.
inline Process& add_process(Timeline& timeline, int32_t proc_id, int32_t parent, int32_t thread_id, Ns first_ns,
                            Ns last_ns) {
  Thread& thread = timeline.threads.emplace_back();
  thread.thread_id = thread_id;
  thread.proc_id = proc_id;
  thread.first_ns = first_ns;
  thread.last_ns = last_ns;
  Process& process = timeline.processes.emplace_back();
  process.proc_id = proc_id;
  process.parent = parent;
  process.main = thread_id;
  process.first_ns = first_ns;
  process.last_ns = last_ns;
  process.threads = {thread_id};
  return process;
}

inline Thread& thread_of(Timeline& timeline, int32_t number) { return timeline.threads[static_cast<size_t>(number)]; }

inline Wait& add_wait(Timeline& timeline, int32_t thread, WaitKind kind, Ns start_ns, Ns end_ns) {
  Wait wait;
  wait.kind = kind;
  wait.start_ns = start_ns;
  wait.end_ns = end_ns;
  wait.ret = 1;
  return thread_of(timeline, thread).waits.emplace_back(wait);
}

// The driver polls from start_ns on; the feeder writes at end_ns, and the driver reads it.
inline void add_batch(Timeline& timeline, Ns start_ns, Ns end_ns) {
  add_wait(timeline, kDriver, WaitKind::kPoll, start_ns, end_ns);
  thread_of(timeline, kDriver).reads.push_back({end_ns + 1000, end_ns + 2000, kPipe, 400});
  timeline.messages[kPipe].push_back({end_ns - 1000, end_ns, kFeeder, 400});
}

}  // namespace mlrun::blame
