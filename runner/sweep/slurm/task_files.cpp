// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/slurm/task_files.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/sweep/store/plan_json.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr mode_t kMode = 0600;  // commands may hold secrets

std::string status_path(const std::string& out, const RunRow& run) {
  return fmt::format("{}/{}.{}.json", slurm_folder(out), run.planned.position, run.attempt);
}

json to_json(const RunRow& run) {
  const PlannedRun& planned = run.planned;
  return {{"id", run.id},
          {"attempt", run.attempt},
          {"block", planned.block},
          {"position", planned.position},
          {"configuration", planned.configuration},
          {"workload", planned.workload},
          {"command", planned.command},
          {"folder", planned.folder},
          {"state", state_name(run.state)},
          {"exit_status", run.exit_status ? json(*run.exit_status) : json()},
          {"started_realtime_ns", run.started_realtime_ns},
          {"ended_realtime_ns", run.ended_realtime_ns},
          {"pid", run.pid},
          {"failure", run.failure},
          {"interrupted", run.interrupted},
          {"figures", run.figures},
          {"machine", run.machine},
          {"facts", run.facts}};
}

// Throws json::exception.
RunRow run_of(const json& from) {
  RunRow run;
  run.id = from.at("id");
  run.attempt = from.at("attempt");
  run.planned.block = from.at("block");
  run.planned.position = from.at("position");
  run.planned.configuration = from.at("configuration");
  run.planned.workload = from.at("workload");
  run.planned.command = from.at("command").get<Words>();
  run.planned.folder = from.at("folder");
  for (const RunState state :
       {RunState::kPlanned, RunState::kRunning, RunState::kDone, RunState::kFailed, RunState::kTimedOut}) {
    if (from.at("state") == state_name(state)) run.state = state;
  }
  if (!from.at("exit_status").is_null()) run.exit_status = from.at("exit_status").get<int>();
  run.started_realtime_ns = from.at("started_realtime_ns");
  run.ended_realtime_ns = from.at("ended_realtime_ns");
  run.pid = from.at("pid");
  run.failure = from.at("failure");
  run.interrupted = from.at("interrupted");
  // A figure that is not a finite number is null in JSON: unknown.
  for (auto [of, to] : {std::pair{"figures", &run.figures}, {"machine", &run.machine}}) {
    for (const auto& [name, value] : from.at(of).items()) {
      if (value.is_number()) (*to)[name] = value;
    }
  }
  run.facts = from.at("facts").get<std::map<std::string, std::string>>();
  return run;
}

Result<json> read_json(const std::string& path) {
  const auto text = util::read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  json parsed = util::parse_json(*text);
  if (!parsed.is_object()) return fail(path + " is damaged: it holds no JSON object");
  return parsed;
}

Status write_json(const std::string& path, const json& value) {
  return util::write_atomically(path, util::json_text(value, 1) + "\n", kMode);
}

// "12.1.json" is a status, "mlrun-....json" a submission.
bool is_submission(const fs::path& path) {
  return path.extension() == ".json" && path.filename().string().starts_with("mlrun-");
}

}  // namespace

std::string slurm_folder(const std::string& out) { return out + "/slurm"; }

std::string submission_path(const std::string& out, const std::string& job_name) {
  return slurm_folder(out) + "/" + job_name + ".json";
}

Status write_submission(const std::string& out, const Plan& plan, const Submission& submission) {
  json tasks = json::array();
  for (const RunRow& run : submission.tasks) tasks.push_back(to_json(run));
  return write_json(submission_path(out, submission.job_name), {{"job_name", submission.job_name},
                                                                {"job_id", submission.job_id},
                                                                {"plan", to_json(plan)},
                                                                {"tasks", std::move(tasks)}});
}

Result<StoredSubmission> read_submission(const std::string& path) {
  const auto read = read_json(path);
  if (!read) return tl::make_unexpected(read.error());
  try {
    StoredSubmission stored;
    auto plan = plan_from_json(read->at("plan"));
    if (!plan) return tl::make_unexpected(plan.error());
    stored.plan = *std::move(plan);
    stored.submission.job_name = read->at("job_name");
    stored.submission.job_id = read->at("job_id");
    for (const json& task : read->at("tasks")) stored.submission.tasks.push_back(run_of(task));
    return stored;
  } catch (const json::exception& exception) {
    return fail(path + " is damaged: " + exception.what());
  }
}

Result<std::vector<Submission>> read_submissions(const std::string& out) {
  std::vector<Submission> submissions;
  std::error_code error;
  for (fs::directory_iterator at(slurm_folder(out), error), end; !error && at != end; at.increment(error)) {
    if (!is_submission(at->path())) continue;
    auto stored = read_submission(at->path().string());
    if (!stored) return tl::make_unexpected(stored.error());
    submissions.push_back(std::move(stored->submission));
  }
  return submissions;
}

Status write_status(const std::string& out, const TaskStatus& status) {
  json value = to_json(status.run);
  value["job_name"] = status.job_name;
  value["job_id"] = status.job_id;
  value["node"] = status.node;
  return write_json(status_path(out, status.run), value);
}

Result<std::optional<TaskStatus>> read_status(const std::string& out, const RunRow& run) {
  const std::string path = status_path(out, run);
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<TaskStatus>();
  const auto read = read_json(path);
  if (!read) return tl::make_unexpected(read.error());
  try {
    return std::optional(TaskStatus{run_of(*read), read->at("job_name"), read->at("job_id"), read->at("node")});
  } catch (const json::exception& exception) {
    return fail(path + " is damaged: " + exception.what());
  }
}

}  // namespace mlrun::sweep
