// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/slurm/cluster_sweep.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "runner/report/text/text_style.h"
#include "runner/session/installation.h"
#include "runner/sweep/execute/event_tables.h"
#include "runner/sweep/execute/run_folder.h"
#include "runner/sweep/plan/shell_words.h"
#include "runner/sweep/slurm/slurm_commands.h"
#include "runner/sweep/slurm/task_files.h"
#include "runner/sweep/store/figures_table.h"
#include "runner/sweep/store/store.h"
#include "runner/util/file_io.h"
#include "runner/util/log.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

std::string options_path(const std::string& out) { return slurm_folder(out) + "/sbatch"; }

std::string new_job_name() {
  std::random_device random;
  return fmt::format("mlrun-{:08x}{:08x}", random(), random());
}

// The submission that a run's attempt belongs to.
struct Place {
  ArrayTask task;
  std::string job_id;
};

class ClusterSweep {
 public:
  ClusterSweep(std::string out, Store& store) : out_(std::move(out)), store_(store) {}

  Status collect();
  // Submits the runs that no task is making and that none has made successfully.
  Status submit_missing(const Words& options);
  Result<int> finish(bool quiet) const;

 private:
  Status read_places();
  Status take(RunRow& run);
  Status settle(std::vector<RunRow>& missing);
  Status submit_one(std::vector<RunRow> tasks, const Words& options);
  Status delete_events();
  [[nodiscard]] std::string how_it_was_lost(const Place& place, const std::string& state, bool has_begun) const;

  std::string out_;
  Store& store_;
  std::vector<RunRow> rows_;                             // by position, then attempt
  std::map<std::pair<int32_t, int32_t>, Place> places_;  // by position and attempt
  std::set<ArrayTask> queue_;
  size_t submitted_ = 0, arrays_ = 0;
};

// A task of a submission without a job number counts only if it is in the queue or has begun: then mlrun was killed before it stored the
// number, or sbatch timed out.
Status ClusterSweep::read_places() {
  const auto submissions = read_submissions(out_);
  if (!submissions) return tl::make_unexpected(submissions.error());
  std::vector<std::string> names;
  for (const Submission& one : *submissions) names.push_back(one.job_name);
  auto queue = tasks_in_queue(names);
  if (!queue) return tl::make_unexpected(queue.error());
  queue_ = *std::move(queue);
  // NFS shows files that other machines have written only after the folder is opened again.
  std::error_code ignored;
  static_cast<void>(fs::directory_iterator(slurm_folder(out_), ignored));
  for (const Submission& one : *submissions) {
    for (size_t i = 0; i < one.tasks.size(); ++i) {
      Place place{{one.job_name, static_cast<int32_t>(i)}, one.job_id};
      if (one.job_id.empty() && !queue_.contains(place.task)) {
        const auto status = read_status(out_, one.tasks[i]);
        if (!status) return tl::make_unexpected(status.error());
        if (!*status || (*status)->job_name != one.job_name) continue;
      }
      places_[{one.tasks[i].planned.position, one.tasks[i].attempt}] = std::move(place);
    }
  }
  return {};
}

std::string ClusterSweep::how_it_was_lost(const Place& place, const std::string& state, bool has_begun) const {
  const std::string log = fmt::format("{}/{}-{}.log", slurm_folder(out_), place.task.job_name, place.task.index);
  std::error_code ignored;
  std::string how = fmt::format("its task {}_{} {}", place.job_id, place.task.index,
                                has_begun ? "ended without writing its status: its node was lost, or it was killed"
                                          : "has no status: it was cancelled before it began, or mlrun did not start");
  if (!state.empty()) how += "; Slurm: " + state;
  if (fs::file_size(log, ignored) > 0 && !ignored) how += "; see " + log;
  return how;
}

// Stores how a run ended, if it has.
Status ClusterSweep::take(RunRow& run) {
  if (run.state != RunState::kPlanned && run.state != RunState::kRunning) return {};
  const auto place = places_.find({run.planned.position, run.attempt});
  if (place == places_.end()) return {};  // not submitted yet
  const auto status = read_status(out_, run);
  if (!status) return tl::make_unexpected(status.error());
  // A status that another submission wrote is not about this attempt.
  const bool is_ours = *status && (*status)->job_name == place->second.task.job_name;
  // A failed task that is still in the queue may begin again: an administrator has requeued it.
  const bool may_begin_again =
      is_ours && (*status)->run.state != RunState::kDone && queue_.contains(place->second.task);
  const bool has_ended = is_ours && !may_begin_again && (*status)->run.state != RunState::kRunning;
  if (!has_ended && queue_.contains(place->second.task)) return {};
  const std::string state = has_ended ? "" : state_of_task(place->second.job_id, place->second.task);
  if (state == "COMPLETED") return {};  // its status file is not visible on this machine yet
  const int64_t id = run.id;
  const PlannedRun planned = run.planned;
  if (is_ours) run = (*status)->run;
  run.id = id;
  run.planned = planned;
  if (!has_ended) {
    run.state = RunState::kFailed;
    run.interrupted = true;
    run.failure = how_it_was_lost(place->second, state, is_ours);
  }
  return store_.set_ended(run);
}

// Deletes the event tables of later repetitions, as a sweep on one machine does.
Status ClusterSweep::delete_events() {
  if (store_.keeps_all_traces()) return {};
  std::set<std::pair<uint32_t, uint32_t>> whole;
  for (const RunRow& run : rows_) {
    if (run.state != RunState::kDone || store_.plan().configurations[run.planned.configuration].is_dry) continue;
    const std::string folder = out_ + "/runs/" + run.planned.folder;
    if (has_event_tables(folder) && whole.insert({run.planned.configuration, run.planned.workload}).second) continue;
    if (Status deleted = delete_event_tables(folder); !deleted) return deleted;
  }
  return {};
}

Status ClusterSweep::collect() {
  if (Status read = read_places(); !read) return read;
  auto rows = store_.runs();
  if (!rows) return tl::make_unexpected(rows.error());
  rows_ = *std::move(rows);
  for (RunRow& run : rows_) {
    if (Status taken = take(run); !taken) return taken;
  }
  if (Status deleted = delete_events(); !deleted) return deleted;
  const auto sweep = read_sweep(out_);
  if (!sweep) return tl::make_unexpected(sweep.error());
  return write_figures(*sweep);
}

// Collects the attempts that are to be submitted; a failed run gets a new one.
Status ClusterSweep::settle(std::vector<RunRow>& missing) {
  for (size_t at = 0; at < rows_.size(); ++at) {
    const RunRow& run = rows_[at];
    const bool is_last = at + 1 == rows_.size() || rows_[at + 1].planned.position != run.planned.position;
    if (!is_last || run.state == RunState::kDone) continue;
    if (run.state == RunState::kPlanned || run.state == RunState::kRunning) {
      if (!places_.contains({run.planned.position, run.attempt})) missing.push_back(run);
      continue;
    }
    auto next = store_.add_attempt(run);
    if (!next) return tl::make_unexpected(next.error());
    if (Status moved = move_failed_folder(out_, run); !moved) return moved;
    missing.push_back(*std::move(next));
  }
  return {};
}

Status ClusterSweep::submit_one(std::vector<RunRow> tasks, const Words& options) {
  Submission submission{new_job_name(), "", std::move(tasks)};
  if (Status written = write_submission(out_, store_.plan(), submission); !written) return written;
  const std::string path = submission_path(out_, submission.job_name);
  const std::string script = slurm_folder(out_) + "/" + submission.job_name + ".sh";
  // exec, so that signals from Slurm reach mlrun itself.
  const std::string text =
      fmt::format("#!/bin/sh\nexec {} slurm-task {} \"$SLURM_ARRAY_TASK_ID\"\n",
                  report::shell_word(session::find_installation().sweep_program), report::shell_word(path));
  constexpr mode_t kScript = 0755;
  if (Status written = util::write_atomically(script, text, kScript); !written) return written;
  const auto job = submit_array(submission.job_name, static_cast<int32_t>(submission.tasks.size()), script,
                                slurm_folder(out_), options);
  if (!job) {
    // After a time-out of sbatch, Slurm may still have the array: its tasks need the files, and are found by the job's name.
    const bool may_be_there = job.error().text.find("timed out") != std::string::npos;
    std::error_code ignored;
    for (const std::string& file : {path, script}) {
      if (!may_be_there) fs::remove(file, ignored);
    }
    return tl::make_unexpected(job.error());
  }
  submission.job_id = *job;
  submitted_ += submission.tasks.size();
  ++arrays_;
  return write_submission(out_, store_.plan(), submission);
}

Status ClusterSweep::submit_missing(const Words& options) {
  std::vector<RunRow> missing;
  if (Status settled = settle(missing); !settled) return settled;
  const auto most = static_cast<size_t>(array_size_most());
  for (size_t from = 0; from < missing.size(); from += most) {
    const size_t to = std::min(missing.size(), from + most);
    const std::vector<RunRow> tasks(missing.begin() + static_cast<std::ptrdiff_t>(from),
                                    missing.begin() + static_cast<std::ptrdiff_t>(to));
    if (Status submitted = submit_one(tasks, options); !submitted) {
      return fail(fmt::format("{}; {} of {} runs are submitted; submit the others with: mlrun sweep --resume {}",
                              submitted.error().text, submitted_, missing.size(), out_));
    }
  }
  util::say(fmt::format("submitted {} in {} to Slurm; store the results of ended runs with: mlrun sweep --collect {}",
                        util::counted(static_cast<int64_t>(submitted_), "run"),
                        util::counted(static_cast<int64_t>(arrays_), "array"), out_));
  return {};
}

Result<int> ClusterSweep::finish(bool quiet) const {
  std::map<int32_t, const RunRow*> last;
  for (const RunRow& run : rows_) last[run.planned.position] = &run;
  size_t done = 0, failed = 0, with_slurm = 0;
  for (const auto& [position, run] : last) {
    const bool is_open = run->state == RunState::kPlanned || run->state == RunState::kRunning;
    if (run->state == RunState::kDone) ++done;
    if (is_open && places_.contains({position, run->attempt})) ++with_slurm;
    if (run->state != RunState::kFailed && run->state != RunState::kTimedOut) continue;
    ++failed;
    if (!quiet) util::say(fmt::format("{} failed: {}", run->planned.folder, run->failure));
  }
  const size_t open = last.size() - done - failed;
  if (!quiet) {
    std::string text = fmt::format("{} of {} done", done, util::counted(static_cast<int64_t>(last.size()), "run"));
    if (failed > 0) text += fmt::format(", {} failed", failed);
    if (with_slurm > 0) text += fmt::format(", {} waiting or running", with_slurm);
    if (open > with_slurm) text += fmt::format(", {} not submitted", open - with_slurm);
    if (failed + open > with_slurm) text += "; submit failed and missing runs with: mlrun sweep --resume " + out_;
    util::say(text);
  }
  return done == last.size() ? 0 : 1;
}

// Rejected, since mlrun's own calls of squeue and scontrol would still ask the cluster of this machine.
bool names_a_cluster(const std::string& word) {
  return word.starts_with("-M") || word == "--clusters" || word.starts_with("--clusters=") || word == "--cluster" ||
         word.starts_with("--cluster=");
}

Result<Words> sbatch_options(const std::string& out, const std::string& text) {
  if (!text.empty()) {
    auto words = shell_words(text);
    if (!words) return fail("--sbatch: " + words.error().text);
    if (std::any_of(words->begin(), words->end(), names_a_cluster))
      return fail(
          "--sbatch: options cannot select a cluster; set the variable SLURM_CLUSTERS, for --collect and --resume, "
          "too");
    constexpr mode_t kMode = 0644;
    if (Status written = util::write_atomically(options_path(out), text, kMode); !written)
      return tl::make_unexpected(written.error());
    return words;
  }
  const std::string stored = util::read_text(options_path(out));
  return stored.empty() ? Result<Words>(Words()) : shell_words(stored);
}

}  // namespace

bool is_cluster_sweep(const std::string& folder) {
  std::error_code ignored;
  return fs::is_directory(slurm_folder(folder), ignored);
}

Result<int> submit(const SweepRequest& request, const std::string& sbatch) {
  if (request.plan && request.plan->stop.within > 0)
    return fail(
        "a stop rule tests each block before the next one is made, which Slurm's arrays cannot do: leave out `stop`, "
        "or --slurm");
  auto store = store_of(request);
  if (!store) return tl::make_unexpected(store.error());
  if (request.keep_all_traces) {
    if (Status kept = store->keep_all_traces(); !kept) return tl::make_unexpected(kept.error());
  }
  const auto out = util::real_path(request.folder);
  if (!out) return tl::make_unexpected(out.error());
  if (Status entered = enter_directory(store->plan()); !entered) return tl::make_unexpected(entered.error());
  if (Status made = util::make_folders(slurm_folder(*out)); !made) return tl::make_unexpected(made.error());
  const auto options = sbatch_options(*out, sbatch);
  if (!options) return tl::make_unexpected(options.error());
  ClusterSweep sweep(*out, *store);
  if (Status collected = sweep.collect(); !collected) return tl::make_unexpected(collected.error());
  if (Status submitted = sweep.submit_missing(*options); !submitted) return tl::make_unexpected(submitted.error());
  return 0;
}

Result<int> collect(const std::string& folder, bool quiet) {
  auto store = Store::open(folder);
  if (!store) return tl::make_unexpected(store.error());
  const auto out = util::real_path(folder);
  if (!out) return tl::make_unexpected(out.error());
  if (!is_cluster_sweep(*out)) return fail(folder + " was not submitted to Slurm; see mlrun sweep list " + folder);
  ClusterSweep sweep(*out, *store);
  if (Status collected = sweep.collect(); !collected) return tl::make_unexpected(collected.error());
  return sweep.finish(quiet);
}

}  // namespace mlrun::sweep
