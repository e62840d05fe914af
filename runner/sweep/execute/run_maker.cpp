// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/run_maker.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/launch/child_process.h"
#include "runner/session/installation.h"
#include "runner/session/source_version.h"
#include "runner/sweep/execute/leftovers.h"
#include "runner/sweep/execute/machine_state.h"
#include "runner/sweep/execute/page_cache.h"
#include "runner/sweep/execute/run_folder.h"
#include "runner/sweep/execute/supervised.h"
#include "runner/sweep/execute/time_limit.h"
#include "runner/sweep/figures/trace_figures.h"
#include "runner/sweep/figures/use.h"
#include "runner/sweep/plan/rule_files.h"
#include "runner/sweep/plan/run_words.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::sweep {

namespace {

// The Git commit of the work tree that contains the working directory; empty: none is known.
std::string commit_here() {
  std::error_code ignored;
  const nlohmann::json source = session::source_version(std::filesystem::current_path(ignored).string());
  return source.is_object() ? source.value("commit", "") : "";
}

SuperviseOptions options_of(const Making& making, const RunRow& run, const std::string& folder) {
  const Configuration& configuration = making.configuration(run);
  SuperviseOptions options;
  options.command = configuration.is_dry
                        ? run.planned.command
                        : run_words(making.plan(), run.planned, session::find_installation().mlrun_program, folder);
  options.environment = configuration.environment;
  if (!making.plan().input.empty()) options.input = making.plan().input;
  options.lock_fd = making.store.lock_fd();
  if (!configuration.is_dry) return options;
  options.cpus = configuration.cpus;
  options.cpu_node = configuration.cpu_node;
  options.mem_node = configuration.mem_node;
  return options;
}

// Whether the command itself still runs. While mlrun makes its trace, the time limit does not apply.
bool command_runs(const std::string& folder, bool is_dry) {
  if (is_dry) return true;  // a dry run makes no trace: only the supervisor reports its end
  const std::string text = util::read_text(folder + "/" + MLRUN_SESSION_FILE);
  const auto session = util::parse_json(text);
  if (session.is_object()) return session.value("state", "") == "running";
  return !std::filesystem::exists(folder + "/run.json");
}

// How a supervised command ended.
struct Ending {
  std::optional<Report> ended;
  int exec_error = 0;
  bool timed_out = false, stopped = false, lost_supervisor = false;
  int32_t left_running = 0;
};

class Watch {
 public:
  Watch(Making& making, const Supervised& supervised, const std::string& folder, bool is_dry)
      : making_(making),
        supervised_(supervised),
        folder_(folder),
        is_dry_(is_dry),
        limit_(supervised, making.plan().time_limit_ns) {}

  Ending until_gone() {
    for (;;) {
      const auto report = supervised_.next(TimeLimit::kTickMs, ending_.stopped ? nullptr : &making_.signals);
      if (report && report->stage == Stage::kNoExec) ending_.exec_error = report->error_number;
      if (report && report->stage == Stage::kEnded) ending_.ended = *report;
      if (report && report->stage == Stage::kGone) {
        ending_.left_running = report->left_running;
        ending_.lost_supervisor = report->pid == 0;  // reports that the supervisor itself sent have a pid
        ending_.timed_out = limit_.was_enforced();
        return ending_;
      }
      if (report) continue;
      making_.progress.tick();
      if (!ending_.stopped && making_.signals.taken()) {
        ending_.stopped = true;
        supervised_.demand(Demand::kKill);
      }
      if (limit_.is_due() && !ending_.ended && !ending_.stopped && command_runs(folder_, is_dry_)) limit_.enforce();
    }
  }

 private:
  Making& making_;
  const Supervised& supervised_;
  const std::string& folder_;
  bool is_dry_;
  TimeLimit limit_;
  Ending ending_;
};

Use use_of_dry(const Report& ended) {
  Use use = use_of(ended.usage);
  use.wall_s = util::in_seconds(ended.ended_ns - ended.started_ns);
  use.read_bytes = static_cast<double>(ended.read_bytes);
  use.wait_status = ended.wait_status;
  return use;
}

std::string after_limit(const Making& making) {
  return fmt::format("after the time limit of {} s", util::in_seconds(making.plan().time_limit_ns));
}

void fail_run(RunRow& run, std::string why) {
  if (run.state != RunState::kTimedOut) run.state = RunState::kFailed;
  if (run.failure.empty()) run.failure = std::move(why);
}

// Stores the figures of an ended run, and the reason if it failed.
void take_result(const Making& making, const std::string& folder, const Ending& ending, RunRow& run) {
  const bool is_dry = making.configuration(run).is_dry;
  run.state = ending.timed_out ? RunState::kTimedOut : RunState::kDone;
  if (ending.timed_out) run.failure = fmt::format("ended {}", after_limit(making));
  if (ending.exec_error != 0) {
    run.exit_status = ending.exec_error == ENOENT ? 127 : 126;
    return fail_run(
        run, fmt::format("cannot execute {}: {}", run.planned.command.front(), std::strerror(ending.exec_error)));
  }
  if (!ending.ended) return fail_run(run, "its supervisor was killed");
  if (ending.left_running > 0) run.facts["left_running"] = std::to_string(ending.left_running);
  Use use = use_of_dry(*ending.ended);
  if (!is_dry) {
    const auto figures = figures_of_trace(folder);
    const auto recorded = use_of_trace(folder);
    run.exit_status = launch::shell_status(use.wait_status);
    if (!figures || !recorded) {
      const std::string why = figures ? recorded.error().text : figures.error().text;
      return fail_run(run, fmt::format("no trace was made ({}); {}", why, last_line(folder + "/error.log")));
    }
    run.figures = *figures;
    const int of_mlrun = launch::shell_status(use.wait_status);
    use = *recorded;
    if (of_mlrun !=
        launch::shell_status(use.wait_status)) {  // mlrun failed: a required stream was not recorded, for instance
      fail_run(run, fmt::format("exit status {} of mlrun: {}", of_mlrun, last_line(folder + "/error.log")));
    }
  }
  add_use(use, run.figures);
  run.exit_status = launch::shell_status(use.wait_status);
  if (Status written = write_log(folder + "/time.log", time_log(use)); !written) fail_run(run, written.error().text);
  if (use.wait_status == 0) return;
  const std::string line = last_line(folder + "/error.log");
  fail_run(run, end_text(use.wait_status) + (line.empty() ? "" : ": " + line));
}

// Environment variables that describe the run to the commands `before` and `after`.
std::map<std::string, std::string> helper_environment(const Making& making, const RunRow& run) {
  return {{"MLRUN_SWEEP_CONFIGURATION", making.configuration(run).name},
          {"MLRUN_SWEEP_WORKLOAD", making.plan().workloads[run.planned.workload].key},
          {"MLRUN_SWEEP_BLOCK", std::to_string(run.planned.block)},
          {"MLRUN_SWEEP_FOLDER", making.folder_of(run)}};
}

// Runs the command `before` or `after`. False: the run failed, or the sweep was stopped; its row says why.
Result<bool> run_around(Making& making, RunRow& run, const Words& command, const char* name) {
  if (command.empty()) return true;
  const std::string output = making.helper_log(name);
  const auto end = run_helper(making, command, helper_environment(making, run), output, making.plan().time_limit_ns);
  if (!end) return tl::make_unexpected(end.error());
  if (!*end) {
    run.interrupted = true;
    fail_run(run, "the sweep was stopped");
    return false;
  }
  if ((*end)->timed_out) {
    fail_run(run, fmt::format("the plan's command {} was ended {}; see {}", name, after_limit(making), output));
    return false;
  }
  if ((*end)->wait_status == 0) return true;
  fail_run(run,
           fmt::format("the plan's command {} ended with {}; see {}", name, end_text((*end)->wait_status), output));
  return false;
}

// Runs the command under a supervisor until all that the supervisor started has ended.
Status supervise(Making& making, RunRow& run, const std::string& folder) {
  SuperviseOptions options = options_of(making, run, folder);
  options.output = folder + "/console.log";
  options.errors = folder + "/error.log";
  const MachineCounters before = read_machine_counters();
  add_machine_now(run.machine);
  const auto supervised = Supervised::start(options);
  if (!supervised) return tl::make_unexpected(supervised.error());
  run.started_realtime_ns = static_cast<int64_t>(util::realtime_ns());
  Status stored = making.store.set_running(run, supervised->processes());
  if (!stored) return stored;
  run.pid = supervised->processes().process.pid;
  supervised->demand(Demand::kGo);
  const Ending ending = Watch(making, *supervised, folder, making.configuration(run).is_dry).until_gone();
  run.ended_realtime_ns = static_cast<int64_t>(util::realtime_ns());
  if (ending.lost_supervisor) {
    // The supervisor was killed, so its processes may still run.
    Status ended = end_leftovers({supervised->processes(), {options.output, options.errors}, folder});
    if (!ended) return ended;
  }
  if (ending.stopped) {
    run.interrupted = true;
    fail_run(run, "the sweep was stopped");
    return {};
  }
  if (ending.ended) {
    const Use whole = use_of(ending.ended->usage);
    add_machine_between(before, read_machine_counters(), whole.user_s + whole.sys_s, run.machine);
  }
  take_result(making, folder, ending, run);
  return {};
}

// Makes the run, without storing how it ended.
Status make(Making& making, RunRow& run) {
  const std::string folder = making.folder_of(run);
  if (free_bytes(making.folder) < kRoomBytes) return tl::make_unexpected(disk_full(making.folder));
  if (Status made = make_run_folder(making.folder, run.planned.folder); !made) return made;
  Status logged = write_log(folder + "/cmd.log", command_text(making, run, options_of(making, run, folder)));
  if (!logged) return logged;
  const auto go_on = run_around(making, run, making.plan().before, "before");
  if (!go_on) return tl::make_unexpected(go_on.error());
  if (!*go_on) return {};
  if (making.configuration(run).cache == Cache::kCold) {
    if (Status dropped = drop_caches(); !dropped) return dropped;
  }
  // Checked after the command `before`, which may write the rule files.
  if (Status same = check_rule_files(making.configuration(run)); !same) return same;
  run.facts = machine_facts();
  if (const std::string commit = commit_here(); !commit.empty()) run.facts["commit"] = commit;
  if (Status supervised = supervise(making, run, folder); !supervised) return supervised;
  if (run.interrupted) return {};
  if (Status recovered = recover_half_trace(making, folder); !recovered) return recovered;
  const auto after = run_around(making, run, making.plan().after, "after");
  if (!after) return tl::make_unexpected(after.error());
  const bool needs_disk = run.state != RunState::kDone || !making.configuration(run).is_dry;
  if (needs_disk && free_bytes(making.folder) < kRoomBytes) {
    run.interrupted = true;
    fail_run(run, "the disk was full");
  }
  return {};
}

}  // namespace

Result<RunRow> make_run(Making& making, RunRow run) {
  if (Status made = make(making, run); !made) return tl::make_unexpected(made.error());
  if (Status stored = making.store.set_ended(run); !stored) return tl::make_unexpected(stored.error());
  return run;
}

Result<bool> warm_up(Making& making, const RunRow& run) {
  if (Status same = check_rule_files(making.configuration(run)); !same) return tl::make_unexpected(same.error());
  const std::string folder = making.warm_up_folder();
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  SuperviseOptions options = options_of(making, run, folder);
  options.output = options.errors = making.helper_log("warm_up");
  const auto supervised = Supervised::start(options);
  if (!supervised) return tl::make_unexpected(supervised.error());
  if (Status stored = making.store.set_helper(supervised->processes()); !stored)
    return tl::make_unexpected(stored.error());
  supervised->demand(Demand::kGo);
  const Ending ending = Watch(making, *supervised, folder, making.configuration(run).is_dry).until_gone();
  std::filesystem::remove_all(folder, error);
  return !ending.stopped;
}

}  // namespace mlrun::sweep
