// SPDX-License-Identifier: Apache-2.0
// The verb `mlrun sweep PLAN`, also as `runs`.
#include <string>

#include "runner/sweep/execute/execute.h"
#include "runner/sweep/front/dry_run.h"
#include "runner/sweep/front/sweep_options.h"
#include "runner/sweep/plan/read_plan.h"
#include "runner/sweep/slurm/cluster_sweep.h"
#include "runner/sweep/verbs.h"

namespace mlrun::sweep {

Result<int> run_plan(const Arguments& arguments) {
  const auto parsed = parse_sweep(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const SweepOptions& options = **parsed;
  if (options.collect) return collect(options.folder, options.quiet);
  SweepRequest request;
  const bool by_slurm = options.slurm || (options.resume && is_cluster_sweep(options.folder));
  if (options.runs || !options.plan.empty()) {
    // This machine may have other CPUs and nodes than those that Slurm chooses.
    const RunsOn runs_on = by_slurm ? RunsOn::kOthers : RunsOn::kThisMachine;
    auto plan = options.runs ? plan_of_runs(options.modes, options.runs->repetitions, options.runs->workloads, runs_on)
                             : read_plan(options.plan, options.modes, runs_on);
    if (!plan) return tl::make_unexpected(plan.error());
    request.plan = *std::move(plan);
  }
  if (options.dry_run) {
    const Status printed = print_dry_run(*request.plan, options.folder, options.json);
    return printed ? Result<int>(0) : tl::make_unexpected(printed.error());
  }
  request.folder = options.folder;
  request.keep_all_traces = options.keep_all_traces;
  request.resume = options.resume;
  request.extend = options.extend;
  request.quiet = options.quiet;
  if (by_slurm) return submit(request, options.sbatch);
  return execute(request);
}

}  // namespace mlrun::sweep
