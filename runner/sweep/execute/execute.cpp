// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/execute.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runner/session/installation.h"
#include "runner/sweep/execute/event_tables.h"
#include "runner/sweep/execute/leftovers.h"
#include "runner/sweep/execute/page_cache.h"
#include "runner/sweep/execute/run_folder.h"
#include "runner/sweep/execute/run_maker.h"
#include "runner/sweep/plan/rule_files.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/sweep/store/figures_table.h"
#include "runner/sweep/store/plan_json.h"
#include "runner/sweep/store/store.h"
#include "runner/util/clock.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

using Cell = std::pair<uint32_t, uint32_t>;  // configuration, workload

Cell cell_of(const RunRow& run) { return {run.planned.configuration, run.planned.workload}; }

int32_t most_repetitions(const Plan& plan) {
  if (plan.stop.within <= 0) return plan.repetitions;
  return plan.stop.at_most > 0 ? plan.stop.at_most : std::max(plan.repetitions, plan.stop.at_least);
}

// The blocks to plan at first: with a stop rule, those before its first test of the results.
int32_t first_repetitions(const Plan& plan) {
  return plan.stop.within <= 0 ? plan.repetitions : std::min(plan.stop.at_least, most_repetitions(plan));
}

class Execution {
 public:
  Execution(Making& making, Store& store) : making_(making), store_(store) {}

  // The exit status.
  Result<int> run();

 private:
  Status load();
  Status end_what_is_running();
  Status settle(size_t at);
  Status settle_all();
  Result<bool> warm_up_rounds();
  Result<bool> make_left();
  Result<bool> make_one(RunRow& run);
  Result<bool> fill_cache(const RunRow& run);
  Status keep_or_delete_events(const RunRow& run);
  Result<bool> add_block();
  Result<int> finish();
  Error stopped();

  [[nodiscard]] bool is_to_be_made_again(const RunRow& run) const;
  [[nodiscard]] size_t number_of(const RunRow& run) const;
  [[nodiscard]] std::map<Cell, size_t> left_behind(size_t at) const;

  Making& making_;
  Store& store_;
  std::vector<RunRow> rows_;  // by position, then attempt
  std::set<Cell> warm_;       // cells whose files are in the page cache, as far as is known
  std::set<Cell> whole_;      // cells that have a run whose event tables are kept
  bool is_first_ = true;
};

Result<int> Execution::run() {
  if (Status ended = end_what_is_running(); !ended) return tl::make_unexpected(ended.error());
  if (Status loaded = load(); !loaded) return tl::make_unexpected(loaded.error());
  if (Status settled = settle_all(); !settled) return tl::make_unexpected(settled.error());
  const auto warmed = warm_up_rounds();
  if (!warmed) return tl::make_unexpected(warmed.error());
  if (!*warmed) return tl::make_unexpected(stopped());
  for (;;) {
    const auto made = make_left();
    if (!made) return tl::make_unexpected(made.error());
    if (!*made) return tl::make_unexpected(stopped());
    const auto added = add_block();
    if (!added) return tl::make_unexpected(added.error());
    if (!*added) return finish();
  }
}

Status Execution::load() {
  auto rows = store_.runs();
  if (!rows) return tl::make_unexpected(rows.error());
  rows_ = *std::move(rows);
  return {};
}

Status Execution::end_what_is_running() {
  const auto running = store_.running();
  if (!running) return tl::make_unexpected(running.error());
  const auto helper = store_.helper();
  if (!helper) return tl::make_unexpected(helper.error());
  LeftBehind left{*helper, {}, making_.warm_up_folder()};
  for (const char* log : {"before", "after", "warm_up", "recover"}) left.logs.push_back(making_.helper_log(log));
  if (Status ended = end_leftovers(left); !ended) return ended;
  for (const Store::Running& one : *running) {
    const std::string folder = making_.folder_of(one.run);
    Status ended = end_leftovers({one.processes, {folder + "/console.log", folder + "/error.log"}, folder});
    if (!ended) return ended;
    RunRow run = one.run;
    run.state = RunState::kFailed;
    run.interrupted = true;
    run.failure = "the sweep was killed during this run";
    if (Status stored = store_.set_ended(run); !stored) return stored;
  }
  return {};
}

bool Execution::is_to_be_made_again(const RunRow& run) const {
  if (run.interrupted) return true;
  if (run.state != RunState::kFailed && run.state != RunState::kTimedOut) return false;
  const auto failed = std::count_if(rows_.begin(), rows_.end(), [&](const RunRow& one) {
    return one.planned.position == run.planned.position && one.state != RunState::kPlanned && !one.interrupted;
  });
  return failed <= making_.plan().retries;
}

// Requires: the row at `at` is the last attempt of its run. Adds another attempt if the run is to be made again.
Status Execution::settle(size_t at) {
  const RunRow run = rows_[at];
  if (!is_to_be_made_again(run)) return {};
  if (Status recovered = recover_half_trace(making_, making_.folder_of(run)); !recovered) return recovered;
  auto next = store_.add_attempt(run);
  if (!next) return tl::make_unexpected(next.error());
  if (Status moved = move_failed_folder(making_.folder, run); !moved) return moved;
  rows_[at].planned.folder = failed_folder(run);
  rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at) + 1, *std::move(next));
  return {};
}

// Completes the steps that a sweep left half done, which may have been killed at any moment.
Status Execution::settle_all() {
  for (size_t at = 0; at < rows_.size(); ++at) {
    const bool is_last = at + 1 == rows_.size() || rows_[at + 1].planned.position != rows_[at].planned.position;
    Status settled;
    if (is_last) {
      settled = settle(at);
    } else if (rows_[at + 1].state == RunState::kPlanned) {
      // The sweep may have been killed between storing the folder's new name and renaming it.
      RunRow failed = rows_[at];
      failed.planned.folder = rows_[at + 1].planned.folder;
      settled = move_failed_folder(making_.folder, failed);
    }
    if (!settled) return settled;
  }
  for (const RunRow& run : rows_) {
    if (run.state != RunState::kDone) continue;
    if (Status kept = keep_or_delete_events(run); !kept) return kept;
  }
  return {};
}

// Keeps the event tables of the first run of a cell, and deletes those of later runs.
Status Execution::keep_or_delete_events(const RunRow& run) {
  if (making_.configuration(run).is_dry || store_.keeps_all_traces()) return {};
  if (has_event_tables(making_.folder_of(run)) && whole_.insert(cell_of(run)).second) return {};
  return delete_event_tables(making_.folder_of(run));
}

Result<bool> Execution::warm_up_rounds() {
  for (int32_t round = 0; round < making_.plan().warm_up; ++round) {
    std::set<Cell> done;
    for (const RunRow& run : rows_) {
      if (run.state != RunState::kPlanned || !done.insert(cell_of(run)).second) continue;
      auto warmed = warm_up(making_, run);
      if (!warmed || !*warmed) return warmed;
      warm_.insert(cell_of(run));
    }
  }
  return true;
}

Result<bool> Execution::fill_cache(const RunRow& run) {
  if (making_.configuration(run).cache != Cache::kWarm || warm_.contains(cell_of(run))) return true;
  return warm_up(making_, run);
}

// The run's number among all runs that have begun; several attempts of a run count once.
size_t Execution::number_of(const RunRow& run) const {
  size_t others = 0;
  int32_t counted = 0;
  for (const RunRow& one : rows_) {
    const int32_t position = one.planned.position;
    if (one.state == RunState::kPlanned || position == run.planned.position || position == counted) continue;
    counted = position;
    ++others;
  }
  return others + 1;
}

std::map<Cell, size_t> Execution::left_behind(size_t at) const {
  std::map<Cell, size_t> left;
  for (size_t i = at; i < rows_.size(); ++i) {
    if (rows_[i].state == RunState::kPlanned) ++left[cell_of(rows_[i])];
  }
  return left;
}

// Makes a planned run and stores it. False: a signal stopped the sweep.
Result<bool> Execution::make_one(RunRow& run) {
  if (!is_first_ && making_.signals.wait(making_.plan().pause_ns)) return false;
  is_first_ = false;
  if (making_.signals.taken()) return false;
  auto warm = fill_cache(run);
  if (!warm || !*warm) return warm;
  const uint64_t begin_ns = util::monotonic_ns();
  if (making_.configuration(run).cache == Cache::kCold) warm_.clear();
  auto made = make_run(making_, run);
  if (!made) return tl::make_unexpected(made.error());
  run = *std::move(made);
  warm_.insert(cell_of(run));
  if (run.interrupted && !making_.signals.taken()) return tl::make_unexpected(disk_full(making_.folder));
  if (run.interrupted) return false;
  making_.progress.end(run, util::monotonic_ns() - begin_ns);
  if (run.state != RunState::kDone) return true;
  if (Status kept = keep_or_delete_events(run); !kept) return tl::make_unexpected(kept.error());
  return true;
}

Result<bool> Execution::make_left() {
  for (size_t at = 0; at < rows_.size(); ++at) {
    if (rows_[at].state != RunState::kPlanned) continue;
    making_.progress.set_left(left_behind(at + 1));
    making_.progress.begin(rows_[at], number_of(rows_[at]), static_cast<size_t>(rows_.back().planned.position));
    auto made = make_one(rows_[at]);
    if (!made || !*made) return made;
    if (Status settled = settle(at); !settled) return tl::make_unexpected(settled.error());
  }
  return true;
}

// Tests the stop rule, after each block from `at_least` on. Adds a block if the results do not meet it yet and the limit of blocks is not
// reached. False: none was added, or there is no rule.
Result<bool> Execution::add_block() {
  const Plan& plan = making_.plan();
  if (plan.stop.within <= 0) return false;
  int32_t blocks = 0;
  std::map<Cell, Series> cells;
  const std::string figure = plan.question.empty() ? "wall_s" : plan.question.front();
  for (const RunRow& run : rows_) {
    blocks = std::max(blocks, run.planned.block);
    Series& series = cells[cell_of(run)];
    const auto found = run.figures.find(figure);
    if (run.state != RunState::kDone || found == run.figures.end()) continue;
    series.push_back({run.planned.block, run.planned.position, found->second});
  }
  if (Status stored = store_.set_looks(blocks - plan.stop.at_least + 1); !stored) {
    return tl::make_unexpected(stored.error());
  }
  const bool is_enough = std::all_of(cells.begin(), cells.end(), [&](const auto& cell) {
    return is_within(cell.second, plan.stop.within, plan.stop.at_least);
  });
  if (is_enough || blocks >= most_repetitions(plan)) return false;
  if (Status added = store_.add_runs(planned_runs(plan, blocks + 1)); !added) return tl::make_unexpected(added.error());
  if (Status loaded = load(); !loaded) return tl::make_unexpected(loaded.error());
  return true;
}

Error Execution::stopped() {
  const int signal = making_.signals.taken().value_or(SIGINT);
  return Error{fmt::format("stopped; resume it with: mlrun sweep --resume {}", making_.folder), 128 + signal};
}

Result<int> Execution::finish() {
  std::map<int32_t, const RunRow*> last;  // attempts, by position
  for (const RunRow& run : rows_) last[run.planned.position] = &run;
  size_t failed = 0;
  for (const auto& [position, run] : last) {
    if (run->state != RunState::kDone) ++failed;
  }
  const auto sweep = read_sweep(making_.folder);
  if (!sweep) return tl::make_unexpected(sweep.error());
  if (Status written = write_figures(*sweep); !written) return tl::make_unexpected(written.error());
  making_.progress.done(last.size(), failed, making_.folder);
  return failed == 0 ? 0 : 1;
}

// Checks what the runs need besides the plan (rights, an input file, programs), before anything is created.
Status check_needs(const Plan& plan) {
  const auto has = [&](auto of) { return std::any_of(plan.configurations.begin(), plan.configurations.end(), of); };
  if (has([](const Configuration& one) { return one.cache == Cache::kCold; })) {
    if (Status can = check_can_drop_caches(); !can) return can;
  }
  if (!plan.input.empty() && ::access(plan.input.c_str(), R_OK) != 0)
    return fail_errno("read the input " + plan.input, errno);
  const session::Installation installed = session::find_installation();
  for (const std::string& program : {installed.supervisor_program, installed.mlrun_program}) {
    if (::access(program.c_str(), X_OK) != 0) return fail(program + " is missing; install or build mlrun again");
  }
  return {};
}

// Opens the sweep of the folder; with `extend`, adds the runs that the request's plan has more.
Result<Store> open_store(const SweepRequest& request) {
  auto store = Store::open(request.folder);
  if (!store || !request.plan || request.plan->hash == store->plan().hash) return store;
  const std::string runs = changed_runs(store->plan(), *request.plan);
  if (!runs.empty()) {
    return fail(
        fmt::format("the plan of {} was changed: {}; its runs would not be comparable, so name a new folder with -o",
                    request.folder, runs));
  }
  if (!request.extend) {
    return fail(fmt::format(
        "the plan of {} was changed: {}; add it with --extend, or resume with the old plan: mlrun sweep --resume {}",
        request.folder, changed_plan(store->plan(), *request.plan), request.folder));
  }
  Plan plan = *request.plan;
  if (!store->plan().directory.empty()) plan.directory = store->plan().directory;
  if (Status set = store->extend(plan, planned_runs(plan, first_repetitions(plan))); !set) {
    return tl::make_unexpected(set.error());
  }
  return store;
}

}  // namespace

Result<Store> store_of(const SweepRequest& request) {
  if (request.plan) {
    if (Status can = check_needs(*request.plan); !can) return tl::make_unexpected(can.error());
  }
  if (request.resume || request.extend) {
    auto store = open_store(request);
    if (!store) return store;
    if (Status can = check_needs(store->plan()); !can) return tl::make_unexpected(can.error());
    return store;
  }
  if (!request.plan) return fail("a sweep needs a plan");
  return Store::create(request.folder, *request.plan, planned_runs(*request.plan, first_repetitions(*request.plan)));
}

Status enter_directory(const Plan& plan) {
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0)
    return fail_errno(fmt::format("enter {}, where the runs of this sweep start", plan.directory), errno);
  for (const Configuration& configuration : plan.configurations) {
    if (Status same = check_rule_files(configuration); !same) return same;
  }
  return {};
}

Result<int> execute(const SweepRequest& request) {
  StopSignals signals;
  auto store = store_of(request);
  if (!store) return tl::make_unexpected(store.error());
  if (request.keep_all_traces) {
    if (Status kept = store->keep_all_traces(); !kept) return tl::make_unexpected(kept.error());
  }
  std::error_code error;
  const std::string folder = fs::canonical(request.folder, error).string();
  if (error) return fail(fmt::format("cannot find {}: {}", request.folder, error.message()));
  if (Status entered = enter_directory(store->plan()); !entered) return tl::make_unexpected(entered.error());
  Progress progress(request.quiet);
  Making making{folder, *store, signals, progress};
  return Execution(making, *store).run();
}

}  // namespace mlrun::sweep
