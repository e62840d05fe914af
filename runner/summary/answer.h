// SPDX-License-Identifier: Apache-2.0
// The answer to "why is it slow": the driver's time by activity and state, the findings, the steps. runner/blame and
// runner/findings make it; SUMMARY_JSON.md defines each figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace mlrun::summary {

// What the driver, the thread that drives the training, was doing.
enum class Activity : uint8_t {
  kStartup,
  kCompute,
  kLoader,
  kReceive,
  kWait,
  kFiles,
  kCheckpoint,
  kLogging,
  kPythonLock,
  kEnd
};
inline constexpr const char* kActivityNames[] = {"startup", "compute",    "loader",  "receive",     "wait",
                                                 "files",   "checkpoint", "logging", "python_lock", "end"};

// The driver's state. While the driver waits: the state of the thread at the end of the chain of waits.
enum class State : uint8_t { kOnCpu, kRunQueue, kDevice, kRemote, kPageFault, kBlocked, kUnknown };
inline constexpr const char* kStateNames[] = {"on_cpu",     "run_queue", "device", "remote",
                                              "page_fault", "blocked",   "unknown"};

struct TimeShare {
  Activity activity = Activity::kStartup;
  State state = State::kUnknown;
  int64_t ns = 0;
};

struct Finding {
  std::string cause;
  std::string also;  // causes that the data cannot distinguish from this one, separated by commas
  std::string claim;
  int64_t explains_ns = 0;
  int64_t low_ppm = -1, high_ppm = -1;  // 95 % interval of the share of the wall time; -1: not from enough samples
  std::string measured_on;              // number of samples that it is measured on, or "one run"
  std::string evidence, command, remedy, against;
  int64_t at_most_saved_ns = -1;  // -1: unknown
};

// A thread that the driver waited for, and what it was doing.
struct WaitedFor {
  std::string role;    // role of the thread's process
  std::string thread;  // name of the thread; empty for the main thread
  int32_t proc_id = 0, pid = 0, tid = 0;
  std::string doing;  // as the label of table `blame`
  std::string line;   // the Python line with most of the time
  std::string link;   // how the last thread of the chain was found (blame::kLinkNames)
  int64_t ns = 0;
};

// How long the driver waited, directly or through other threads, for a socket whose other end is on another machine or in another trace.
struct AwayWait {
  int64_t file_id = 0, ns = 0;
};

// What the steps were found from: batches that worker processes sent, the program's marks, the pattern of getting data and computing, or the position
// of Python loops in stack samples.
enum class StepsFrom : uint8_t { kBatches, kMarks, kPattern, kLoops };
inline constexpr const char* kStepsFromNames[] = {"batches", "marks", "pattern", "loops"};

struct StepRow {
  int64_t step = 0;  // counts from 1
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t wait_ns = 0, compute_ns = 0, checkpoint_ns = 0, other_ns = 0;
};

struct Answer {
  int64_t driver_thread_id = 0, driver_tid = 0, driver_pid = 0;
  int64_t wall_ns = 0;                             // sum of `time`; 0: the trace has no answer
  int64_t startup_ns = 0;                          // before the first batch
  int64_t batches_from_ns = 0, batches_to_ns = 0;  // arrival of the first and of the last batch; 0: unknown
  // Time in the driver's loop in which it waited for, received or loaded a batch; -1: unknown.
  int64_t without_batch_ns = -1;
  int64_t low_ns = -1, high_ns = -1;  // 95 % interval of without_batch_ns
  int64_t samples = 0;                // samples of the driver's Python stack in its loop
  int64_t not_followed_ns = 0, waiting_ns = 0;
  int64_t steps = 0;
  int64_t steps_from = 0;         // StepsFrom
  int64_t steps_sure_ppm = 0;     // from kPattern: share of the steps that look alike; else a million
  std::vector<TimeShare> time;    // longest first
  std::vector<Finding> findings;  // in the order in which the report lists them
  std::vector<WaitedFor> waited_for;
  std::vector<AwayWait> away;  // not stored in a table; computed with table `blame`
  std::vector<StepRow> step_rows;
};

// Checks the number, since a damaged trace may contain any.
inline const char* steps_from_name(const Answer& answer) {
  const bool is_known = answer.steps_from >= 0 && static_cast<size_t>(answer.steps_from) < std::size(kStepsFromNames);
  return kStepsFromNames[is_known ? static_cast<size_t>(answer.steps_from) : 0];
}

}  // namespace mlrun::summary
