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

// What the thread that drives the training was doing.
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

// The state of that thread; while it waits, of the thread at the end of the chain.
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
  std::string also;  // causes that the data cannot tell from it, separated by commas
  std::string claim;
  int64_t explains_ns = 0;
  int64_t low_ppm = -1, high_ppm = -1;  // of the share, 95 %; -1: not from samples
  std::string measured_on;              // the samples it rests on, or "one run"
  std::string evidence, command, remedy, against;
  int64_t at_most_saved_ns = -1;  // -1: unknown
};

// A thread that the driver waited for, and what it was doing.
struct WaitedFor {
  std::string role;    // of its process
  std::string thread;  // its name, if it is not the main thread
  int32_t proc_id = 0, pid = 0, tid = 0;
  std::string doing;  // as the label of table `blame`
  std::string line;   // the Python line, path or function with most of the time
  std::string link;   // how the last hop is known
  int64_t ns = 0;
};

// How long the driver waited, at the end of the chain, for what comes over a socket from another machine or trace.
struct AwayWait {
  int64_t file_id = 0, ns = 0;
};

// What steps are known from: the batches that worker processes sent, the program's marks, the pattern of getting data and computing, or
// how far the samples of the stack found a loop to be.
enum class StepsFrom : uint8_t { kBatches, kMarks, kPattern, kLoops };
inline constexpr const char* kStepsFromNames[] = {"batches", "marks", "pattern", "loops"};

struct StepRow {
  int64_t step = 0;  // counts from 1
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t wait_ns = 0, compute_ns = 0, checkpoint_ns = 0, other_ns = 0;
};

struct Answer {
  int64_t driver_thread_id = 0, driver_tid = 0, driver_pid = 0;
  int64_t wall_ns = 0;                             // of `time` together; 0: there is no answer
  int64_t startup_ns = 0;                          // before the first batch
  int64_t batches_from_ns = 0, batches_to_ns = 0;  // arrival of the first and of the last batch; 0: none known
  int64_t without_batch_ns = -1;                   // between them; -1: unknown
  int64_t low_ns = -1, high_ns = -1;               // 95 %
  int64_t samples = 0;                             // samples of the driver's Python stack
  int64_t not_followed_ns = 0, waiting_ns = 0;
  int64_t steps = 0;
  int64_t steps_from = 0;         // StepsFrom
  int64_t steps_sure_ppm = 0;     // of a pattern: the share of the steps that are as the others; else a million
  std::vector<TimeShare> time;    // by time
  std::vector<Finding> findings;  // in order
  std::vector<WaitedFor> waited_for;
  std::vector<AwayWait> away;  // not stored: by table `blame`
  std::vector<StepRow> step_rows;
};

// A damaged trace may hold any number.
inline const char* steps_from_name(const Answer& answer) {
  const bool is_known = answer.steps_from >= 0 && static_cast<size_t>(answer.steps_from) < std::size(kStepsFromNames);
  return kStepsFromNames[is_known ? static_cast<size_t>(answer.steps_from) : 0];
}

}  // namespace mlrun::summary
