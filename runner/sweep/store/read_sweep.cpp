// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/sweep/store/database.h"
#include "runner/sweep/store/plan_json.h"
#include "runner/sweep/store/schema.h"

namespace mlrun::sweep {

namespace {

constexpr std::array kStates = {"planned", "running", "done", "failed", "timed_out"};
constexpr int kBusyMs = 10'000;  // the writer may be at a checkpoint

RunState state_of(const std::string& name) {
  const auto found = std::find(kStates.begin(), kStates.end(), name);
  if (found == kStates.end()) throw std::runtime_error(fmt::format("unknown state of a run: \"{}\"", name));
  return static_cast<RunState>(found - kStates.begin());
}

Words words_of(const std::string& text) {
  Words words;
  for (const auto& word : nlohmann::json::parse(text)) words.push_back(word.get<std::string>());
  return words;
}

std::unordered_map<std::string, uint32_t> places(const auto& values, auto name) {
  std::unordered_map<std::string, uint32_t> result;
  for (const auto& value : values) result.emplace(name(value), static_cast<uint32_t>(result.size()));
  return result;
}

// Also opens a database in a folder without write permission: nothing writes to it then, and SQLite needs no files beside it.
SQLite::Database open_for_reading(const std::string& folder) {
  const std::string path = database_path(folder);
  const bool is_fixed = ::access(folder.c_str(), W_OK) != 0 && ::access((path + "-wal").c_str(), F_OK) != 0;
  if (!is_fixed) return SQLite::Database(path, SQLite::OPEN_READONLY, kBusyMs);
  std::string uri = "file:";
  for (const char c : path)
    uri += std::string_view("?#%").find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("%{:02x}", c);
  return SQLite::Database(uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyMs);
}

// Rows come in order of run_id and name. A run that `by_id` lacks was added after it was read.
template <typename Values>
void read_values(SQLite::Database& database, const char* table, const std::unordered_map<int64_t, RunRow*>& by_id,
                 Values RunRow::*values) {
  SQLite::Statement rows(database, fmt::format("SELECT run_id, name, value FROM {} ORDER BY run_id, name", table));
  int64_t id = -1;
  RunRow* run = nullptr;
  while (rows.executeStep()) {
    if (const int64_t next = rows.getColumn(0).getInt64(); next != id) {
      id = next;
      const auto found = by_id.find(id);
      run = found == by_id.end() ? nullptr : found->second;
    }
    if (run == nullptr) continue;
    Values& of_run = run->*values;
    auto name = rows.getColumn(1).getString();
    if constexpr (std::is_same_v<Values, Figures>) {
      of_run.emplace_hint(of_run.end(), std::move(name), rows.getColumn(2).getDouble());
    } else {
      of_run.emplace_hint(of_run.end(), std::move(name), rows.getColumn(2).getString());
    }
  }
}

Result<Sweep> read_all(SQLite::Database& database, const std::string& folder) {
  const SQLite::Transaction one_moment(database);
  auto plan = stored_plan(database, folder);
  if (!plan) return tl::make_unexpected(plan.error());
  auto runs = stored_runs(database, folder, *plan);
  if (!runs) return tl::make_unexpected(runs.error());
  Sweep sweep;
  sweep.folder = folder;
  sweep.plan_hash = plan->hash;
  sweep.runs = *std::move(runs);
  sweep.configurations = std::move(plan->configurations);
  sweep.workloads = std::move(plan->workloads);
  sweep.order = plan->order;
  sweep.question = std::move(plan->question);
  sweep.margin = plan->margin;
  SQLite::Statement about(database, "SELECT created_realtime_ns, looks FROM sweep");
  if (about.executeStep()) {
    sweep.created_realtime_ns = about.getColumn(0).getInt64();
    sweep.looks = about.getColumn(1).getInt();
  }
  return sweep;
}

}  // namespace

const char* state_name(RunState state) { return kStates[static_cast<size_t>(state)]; }

Error database_error(const std::string& folder, const SQLite::Exception& error) {
  constexpr int kFull = 13, kIo = 10;  // SQLITE_FULL, SQLITE_IOERR
  const int code = error.getErrorCode() & 0xff;
  const bool is_disk = code == kFull || code == kIo;
  const char* advice = is_disk ? "; nothing is lost: make room on the disk, then: mlrun sweep --resume " : "";
  return Error{
      fmt::format("cannot use {}: {}{}{}", database_path(folder), error.what(), advice, is_disk ? folder : "")};
}

Result<Plan> stored_plan(SQLite::Database& database, const std::string& folder) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version > kSchemaVersion) return fail(folder + " was written by a newer version of mlrun; use that version");
  if (version == 0) return fail(folder + " holds no sweep");
  SQLite::Statement newest(database, "SELECT json FROM plan ORDER BY id DESC LIMIT 1");
  if (!newest.executeStep()) return fail(folder + " holds no sweep");
  return plan_from_json(newest.getColumn(0).getString());
}

Result<std::vector<RunRow>> stored_runs(SQLite::Database& database, const std::string& folder, const Plan& plan) try {
  const auto configurations = places(plan.configurations, [](const Configuration& one) { return one.name; });
  const auto workloads = places(plan.workloads, [](const Workload& one) { return one.key; });
  SQLite::Statement rows(
      database,
      "SELECT id, configuration, workload, block, attempt, position, folder, command, state, exit_status, "
      "started_realtime_ns, ended_realtime_ns, pid, failure, interrupted FROM run ORDER BY position, attempt");
  std::vector<RunRow> runs;
  while (rows.executeStep()) {
    RunRow& run = runs.emplace_back();
    run.id = rows.getColumn(0).getInt64();
    run.planned.configuration = configurations.at(rows.getColumn(1).getString());
    run.planned.workload = workloads.at(rows.getColumn(2).getString());
    run.planned.block = rows.getColumn(3).getInt();
    run.attempt = rows.getColumn(4).getInt();
    run.planned.position = rows.getColumn(5).getInt();
    run.planned.folder = rows.getColumn(6).getString();
    run.planned.command = words_of(rows.getColumn(7).getString());
    run.state = state_of(rows.getColumn(8).getString());
    if (!rows.getColumn(9).isNull()) run.exit_status = rows.getColumn(9).getInt();
    run.started_realtime_ns = rows.getColumn(10).getInt64();
    run.ended_realtime_ns = rows.getColumn(11).getInt64();
    run.pid = rows.getColumn(12).getInt64();
    run.failure = rows.getColumn(13).getString();
    run.interrupted = rows.getColumn(14).getInt() != 0;
  }
  std::unordered_map<int64_t, RunRow*> by_id;
  for (RunRow& run : runs) by_id.emplace(run.id, &run);
  read_values(database, "figure", by_id, &RunRow::figures);
  read_values(database, "machine", by_id, &RunRow::machine);
  read_values(database, "fact", by_id, &RunRow::facts);
  return runs;
} catch (const SQLite::Exception&) {
  throw;
} catch (const std::exception& error) {
  return fail(fmt::format("{} is damaged: {}", database_path(folder), error.what()));
}

Result<Sweep> read_sweep(const std::string& folder) {
  if (!session::is_sweep(folder)) return session::no_sweep(folder);
  return with_database(folder, [&] {
    SQLite::Database database = open_for_reading(folder);
    return read_all(database, folder);
  });
}

}  // namespace mlrun::sweep
