// SPDX-License-Identifier: Apache-2.0
// The command line of `mlrun sweep PLAN` and of `runs`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/verbs.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// The arguments after --runs, as the older script takes them.
struct RunsWords {
  std::string repetitions;
  std::vector<std::string> workloads;
};

struct SweepOptions {
  std::string plan, modes;  // files
  std::string folder;       // OUT
  std::optional<RunsWords> runs;
  bool dry_run = false, json = false;
  bool resume = false, extend = false;
  bool slurm = false, collect = false;
  std::string sbatch;  // options for sbatch, as text
  bool keep_all_traces = false, quiet = false;
};

// nullopt: the requested help has been printed.
Result<std::optional<SweepOptions>> parse_sweep(const Arguments& arguments);

}  // namespace mlrun::sweep
