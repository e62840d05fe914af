// SPDX-License-Identifier: Apache-2.0
// A sweep as it is stored in OUT/sweep.sqlite.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

enum class RunState { kPlanned, kRunning, kDone, kFailed, kTimedOut };

// "planned", "running", "done", "failed", "timed_out": in the database and in JSON.
const char* state_name(RunState state);

// Names end in their unit: wall_s, user_s, max_rss_bytes. A figure that is unknown is absent.
using Figures = std::map<std::string, double>;

// Facts of a run itself. All others describe its machine, and comparisons name those that differ between two sweeps.
inline constexpr std::array<std::string_view, 3> kFactsOfRun = {"commit", "left_running", "slurm_job"};

struct RunRow {
  int64_t id = 0;
  PlannedRun planned;
  int32_t attempt = 1;  // 1, 2 ...: each attempt of a run has a row, and rows of failed attempts stay
  RunState state = RunState::kPlanned;
  std::optional<int> exit_status;  // as in a shell: 128 + n for a signal
  int64_t started_realtime_ns = 0, ended_realtime_ns = 0;
  int64_t pid = 0;
  std::string failure;  // why it failed, in words
  // It failed because the sweep was ended, the disk was full, or its Slurm task was lost: --resume makes the run again.
  bool interrupted = false;
  Figures figures;  // figures of the run
  Figures
      machine;  // state of the machine during the run: steal_share, load_1m, other_cpu_share, memory_available_bytes ...
  std::map<std::string, std::string> facts;  // words by name: of the machine (governor, turbo ...) and kFactsOfRun
};

struct Sweep {
  std::string folder;
  std::string plan_hash;
  std::vector<Configuration> configurations;
  std::vector<Workload> workloads;
  std::vector<RunRow> runs;  // by position, then attempt
  Order order = Order::kBlocks;
  std::vector<std::string> question;
  double margin = 0.03;
  int32_t looks = 0;  // how often the stop rule looked at the results
  int64_t created_realtime_ns = 0;
};

// The whole sweep in memory; also while another process makes its runs. Fails if the folder holds none.
Result<Sweep> read_sweep(const std::string& folder);

}  // namespace mlrun::sweep
