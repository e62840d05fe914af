// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/front/sweep_options.h"

#include <algorithm>

#include "runner/options/cli.h"

namespace mlrun::sweep {

namespace {

constexpr const char* kSweepFooter =
    "Examples:\n"
    "  mlrun sweep plan.toml -o results             make all runs of a plan\n"
    "  mlrun sweep --dry-run plan.toml              every run with its command, and how long all will take\n"
    "  mlrun sweep --resume results                 go on after an interruption: no run twice, none missing\n"
    "  mlrun sweep --extend plan.toml -o results    the plan was edited: make the runs that it adds\n"
    "  mlrun sweep --modes modes.lst --runs results 8 'python train.py --workers 2' 'python train.py --workers 8'\n"
    "  mlrun sweep --slurm plan.toml -o results     submit the runs to Slurm; then --collect, --resume\n"
    "  mlrun sweep list results                     then: stat, compare, history\n"
    "\n"
    "A plan is TOML:\n"
    "  repetitions = 8\n"
    "  workloads = \"python train.py -j {jobs}\"\n"
    "  parameters = {jobs = [2, 8]}\n"
    "  [[configuration]]\n"
    "  name = \"dry\"\n"
    "  dry = true\n"
    "  [[configuration]]\n"
    "  name = \"traced\"\n"
    "  options = \"--stacks=16\"\n"
    "\n"
    "A plan that compares memory of two NUMA nodes; -> default is its control, the same heap without a policy:\n"
    "  repetitions = 8\n"
    "  workloads = \"python3 train.py\"\n"
    "  [[configuration]]\n"
    "  name = \"control\"\n"
    "  options = \"--preload=off --place '-> default'\"\n"
    "  cpu_node = 0\n"
    "  [[configuration]]\n"
    "  name = \"near\"\n"
    "  options = \"--preload=off --place '-> node 0'\"\n"
    "  cpu_node = 0\n"
    "  [[configuration]]\n"
    "  name = \"far\"\n"
    "  options = \"--preload=off --place '-> node 1'\"\n"
    "  cpu_node = 0\n"
    "\n"
    "Exit status: 0 if all runs succeeded, 1 if some failed, 125 for an error of the sweep itself, 130 after Ctrl-C.";

constexpr const char* kRunsUsage =
    "usage: runs [--modes FILE] OUT N WORKLOAD...: N repetitions of each WORKLOAD, a command each";

Status take_runs(const Arguments& arguments, SweepOptions& options) {
  if (arguments.size() < 3) return fail(kRunsUsage);
  options.folder = arguments[0];
  options.runs = RunsWords{arguments[1], {arguments.begin() + 2, arguments.end()}};
  if (options.folder.empty()) return fail(std::string("OUT is an empty word; ") + kRunsUsage);
  return {};
}

Status check_words_of_slurm(const SweepOptions& options, bool has_output) {
  if (options.collect && (has_output || options.resume || options.slurm || options.runs || !options.plan.empty()))
    return fail("--collect OUT takes neither a plan nor -o, --resume, --runs or --slurm");
  if (!options.sbatch.empty() && !options.slurm && !options.resume) return fail("--sbatch needs --slurm or --resume");
  return {};
}

Status check_words_of_sweep(const SweepOptions& options, bool has_output) {
  if (Status checked = check_words_of_slurm(options, has_output); !checked || options.collect) return checked;
  if (options.runs) {
    if (!options.plan.empty()) return fail("--runs defines the workloads itself: leave out the plan " + options.plan);
    if (has_output || options.resume) return fail("--runs names OUT itself: leave out -o and --resume");
    return {};
  }
  if (has_output && options.resume) return fail("--resume names OUT itself: leave out -o");
  if (options.extend && options.plan.empty())
    return fail("--extend adds the runs that are new in an edited plan: give the plan file");
  if (options.plan.empty() && (!options.resume || options.dry_run)) {
    return fail(
        options.modes.empty()
            ? "name a plan; see mlrun sweep --help"
            : "--modes has only configurations: add --runs OUT N WORKLOAD..., or a plan without configurations");
  }
  if (options.plan.empty() && !options.modes.empty()) return fail("--modes needs a plan, or --runs");
  if (options.folder.empty() && !options.dry_run) return fail("name a folder for the results: -o OUT");
  return {};
}

}  // namespace

Result<std::optional<SweepOptions>> parse_sweep(const Arguments& arguments) {
  SweepOptions options;
  std::string output, resumed, collected;
  CLI::App app("Runs configurations × workloads × repetitions, unattended, and stores their results.", "sweep");
  set_usage(app, "mlrun sweep [OPTIONS] PLAN -o OUT");
  app.footer(kSweepFooter);
  app.add_option("PLAN", options.plan,
                 "the plan, a TOML file (keys: runner/sweep/plan/README.md in PREFIX/share/doc/mlrun)");
  app.add_option("-o,--output", output, "folder of the results, a new one (default: none)")->option_text("OUT");
  app.add_flag("--dry-run", options.dry_run, "print every run and its command; run and create nothing (default: off)");
  app.add_flag("--json", options.json, "with --dry-run: as JSON (default: off)");
  app.add_option("--resume", resumed, "run what is still missing in OUT (default: no sweep is resumed)")
      ->option_text("OUT");
  app.add_flag(
      "--slurm", options.slurm,
      "let Slurm make the runs, as job arrays; OUT must be on a shared file system. Each run checks the CPUs and "
      "nodes of the plan on its own machine (default: off)");
  app.add_option("--sbatch", options.sbatch,
                 "options for sbatch, such as '--partition=gpu --exclusive' (default: none)")
      ->option_text("WORDS");
  app.add_option("--collect", collected, "store the results of Slurm tasks that have ended (default: none)")
      ->option_text("OUT");
  app.add_flag("--extend", options.extend,
               "add to OUT, made from another plan, the runs that only this plan has (default: off)");
  app.add_option(
         "--modes", options.modes,
         "file of configurations, one a line: name, PMEM 0 or 1, memory nodes, CPU nodes, untraced 0 or 1, --access HZ "
         "(default: none)")
      ->option_text("FILE");
  bool has_runs = false;  // for the help page only: take_runs() reads the words after --runs
  app.add_flag("--runs", has_runs, "the arguments of the older script `runs`, after all options (default: none)")
      ->option_text("OUT N WORKLOAD...");
  app.add_flag("--all", options.keep_all_traces,
               "keep the events of all repetitions, not only of the first one (default: off)");
  app.add_flag("--quiet", options.quiet, "no status line (default: off)");
  const auto runs = std::find(arguments.begin(), arguments.end(), "--runs");
  const auto parsed = parse(app, Arguments(arguments.begin(), runs));
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<SweepOptions>();
  options.resume = !resumed.empty();
  options.collect = !collected.empty();
  options.folder = options.resume ? resumed : options.collect ? collected : output;
  Status status;
  if (runs != arguments.end()) status = take_runs(Arguments(runs + 1, arguments.end()), options);
  if (status) status = check_words_of_sweep(options, !output.empty());
  if (!status) return tl::make_unexpected(status.error());
  if (options.json && !options.dry_run) return fail("--json needs --dry-run; mlrun sweep list --json prints results");
  return options;
}

}  // namespace mlrun::sweep
