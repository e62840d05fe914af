// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/sweep/store/database.h"
#include "runner/sweep/store/folder_lock.h"
#include "runner/sweep/store/plan_json.h"
#include "runner/sweep/store/schema.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

constexpr int kWriterBusyMs = 10'000;
constexpr int kRw = 6;  // SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE

void insert_plan(SQLite::Database& database, const Plan& plan) {
  SQLite::Statement insert(database, "INSERT INTO plan (hash, text, json, added_realtime_ns) VALUES (?, ?, ?, ?)");
  insert.bind(1, plan.hash);
  insert.bind(2, plan.text);
  insert.bind(3, to_json(plan));
  insert.bind(4, static_cast<int64_t>(util::realtime_ns()));
  insert.exec();
}

void insert_run(SQLite::Statement& insert, const Plan& plan, const PlannedRun& run, int32_t position, int32_t attempt) {
  insert.reset();
  insert.bind(1, plan.hash);
  insert.bind(2, plan.configurations[run.configuration].name);
  insert.bind(3, plan.workloads[run.workload].key);
  insert.bind(4, run.block);
  insert.bind(5, attempt);
  insert.bind(6, position);
  insert.bind(7, run.folder);
  insert.bind(8, util::json_text(nlohmann::json(run.command)));
  insert.exec();
}

constexpr const char* kInsertRun =
    "INSERT INTO run (plan_hash, configuration, workload, block, attempt, position, folder, command, state) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'planned')";

// Written under another name and renamed, so that a sweep that is killed meanwhile leaves no half database.
Status write_new(const std::string& folder, const Plan& plan, const std::vector<PlannedRun>& runs) {
  const std::string path = database_path(folder), unfinished = path + ".new";
  ::unlink(unfinished.c_str());
  {
    SQLite::Database database(unfinished, kRw);
    SQLite::Transaction transaction(database);
    database.exec(kSchema);
    SQLite::Statement about(database, "INSERT INTO sweep (created_realtime_ns) VALUES (?)");
    about.bind(1, static_cast<int64_t>(util::realtime_ns()));
    about.exec();
    insert_plan(database, plan);
    SQLite::Statement insert(database, kInsertRun);
    for (const PlannedRun& run : runs) insert_run(insert, plan, run, run.position, 1);
    database.exec(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
    transaction.commit();
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return fail_errno("write " + path, errno);
  return {};
}

Status check_new(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  if (!fs::is_directory(folder, error)) return fail(folder + " is a file; name a folder for the sweep with -o");
  if (session::is_sweep(folder)) {
    return fail(
        fmt::format("{} holds a sweep already; resume it with: mlrun sweep --resume {}, or name a new folder with -o",
                    folder, folder));
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    // Files of a sweep that was killed before it had begun.
    const std::string name = entry.path().filename();
    if (name == "sweep.lock" || name.starts_with(session::kSweepDatabase + std::string(".new"))) continue;
    return fail(folder + " is not empty; name a new folder with -o");
  }
  return {};
}

// Appends runs. A run that exists stays as it is. A new run gets another folder name if its name is taken.
void insert_new_runs(SQLite::Database& database, const Plan& plan, const std::vector<PlannedRun>& runs) {
  std::set<std::tuple<std::string, std::string, int32_t>> there;
  std::set<std::string> folders;
  int32_t last = 0;
  SQLite::Statement old(database, "SELECT configuration, workload, block, position, folder FROM run");
  while (old.executeStep()) {
    there.emplace(old.getColumn(0).getString(), old.getColumn(1).getString(), old.getColumn(2).getInt());
    last = std::max(last, old.getColumn(3).getInt());
    folders.insert(old.getColumn(4).getString());
  }
  SQLite::Statement insert(database, kInsertRun);
  for (PlannedRun run : runs) {
    const auto& configuration = plan.configurations[run.configuration].name;
    if (!there.emplace(configuration, plan.workloads[run.workload].key, run.block).second) continue;
    const std::string name = run.folder;
    for (int number = 2; !folders.insert(run.folder).second; ++number) run.folder = fmt::format("{}-{}", number, name);
    insert_run(insert, plan, run, ++last, 1);
  }
}

// Commits without a sync: a power failure can lose only marks of processes, which it has ended, too.
class Unsynced {
 public:
  explicit Unsynced(SQLite::Database& database) : database_(database) { database_.exec("PRAGMA synchronous = NORMAL"); }
  ~Unsynced() { database_.tryExec("PRAGMA synchronous = FULL"); }
  Unsynced(const Unsynced&) = delete;
  Unsynced& operator=(const Unsynced&) = delete;

 private:
  SQLite::Database& database_;
};

void bind_processes(SQLite::Statement& statement, const Processes& processes) {
  statement.bind(1, processes.process.pid);
  statement.bind(2, static_cast<int64_t>(processes.process.start_ticks));
  statement.bind(3, processes.supervisor.pid);
  statement.bind(4, static_cast<int64_t>(processes.supervisor.start_ticks));
  statement.bind(5, processes.process.boot_id);
}

Processes processes_of(SQLite::Statement& row) {
  const std::string boot_id = row.getColumn(4).getString();
  return {{row.getColumn(0).getInt64(), static_cast<uint64_t>(row.getColumn(1).getInt64()), boot_id},
          {row.getColumn(2).getInt64(), static_cast<uint64_t>(row.getColumn(3).getInt64()), boot_id}};
}

void bind_values(SQLite::Database& database, const char* table, int64_t run_id, const auto& values) {
  SQLite::Statement clear(database, fmt::format("DELETE FROM {} WHERE run_id = ?", table));
  clear.bind(1, run_id);
  clear.exec();
  SQLite::Statement insert(database, fmt::format("INSERT INTO {} (run_id, name, value) VALUES (?, ?, ?)", table));
  for (const auto& [name, value] : values) {
    insert.reset();
    insert.bind(1, run_id);
    insert.bind(2, name);
    insert.bind(3, value);
    insert.exec();
  }
}

}  // namespace

struct Store::Parts {
  std::string folder;
  FolderLock lock;
  std::unique_ptr<SQLite::Database> database;
  Plan plan;
  bool keeps_all_traces = false;
};

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

int Store::lock_fd() const { return parts_->lock.fd(); }
const Plan& Store::plan() const { return parts_->plan; }

Result<Store> Store::create(const std::string& folder, const Plan& plan, const std::vector<PlannedRun>& runs) {
  if (Status is_new = check_new(folder); !is_new) return tl::make_unexpected(is_new.error());
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  if (Status made = util::make_folders(folder); !made) return tl::make_unexpected(made.error());
  const Status written = [&]() -> Status {
    const auto lock = FolderLock::take(folder);
    if (!lock) return tl::make_unexpected(lock.error());
    if (Status is_new = check_new(folder); !is_new) return is_new;  // another sweep has taken the folder meanwhile
    Status put = with_database(folder, [&] { return write_new(folder, plan, runs); });
    if (!put && !existed) fs::remove_all(folder, error);
    return put;
  }();
  if (written) return open(folder);
  return tl::make_unexpected(written.error());
}

Result<Store> Store::open(const std::string& folder) {
  if (!session::is_sweep(folder)) return session::no_sweep(folder);
  auto lock = FolderLock::take(folder);
  if (!lock) return tl::make_unexpected(lock.error());
  return with_database(folder, [&]() -> Result<Store> {
    auto parts = std::make_unique<Parts>();
    parts->folder = folder;
    parts->lock = *std::move(lock);
    parts->database = std::make_unique<SQLite::Database>(database_path(folder), SQLite::OPEN_READWRITE, kWriterBusyMs);
    parts->database->exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    auto plan = stored_plan(*parts->database, folder);
    if (!plan) return tl::make_unexpected(plan.error());
    parts->plan = *std::move(plan);
    parts->keeps_all_traces = parts->database->execAndGet("SELECT keeps_all_traces FROM sweep").getInt() != 0;
    return Store(std::move(parts));
  });
}

Status Store::extend(const Plan& plan, const std::vector<PlannedRun>& runs) {
  return with_database(parts_->folder, [&]() -> Status {
    SQLite::Transaction transaction(*parts_->database);
    insert_plan(*parts_->database, plan);
    insert_new_runs(*parts_->database, plan, runs);
    transaction.commit();
    parts_->plan = plan;
    return {};
  });
}

Status Store::add_runs(const std::vector<PlannedRun>& runs) {
  return with_database(parts_->folder, [&]() -> Status {
    SQLite::Transaction transaction(*parts_->database);
    insert_new_runs(*parts_->database, parts_->plan, runs);
    transaction.commit();
    return {};
  });
}

bool Store::keeps_all_traces() const { return parts_->keeps_all_traces; }

Status Store::keep_all_traces() {
  return with_database(parts_->folder, [&]() -> Status {
    parts_->database->exec("UPDATE sweep SET keeps_all_traces = 1");
    parts_->keeps_all_traces = true;
    return {};
  });
}
Result<std::vector<RunRow>> Store::runs() {
  return with_database(parts_->folder, [&] { return stored_runs(*parts_->database, parts_->folder, parts_->plan); });
}

std::string failed_folder(const RunRow& run) { return fmt::format("{}.failed-{}", run.planned.folder, run.attempt); }

Result<RunRow> Store::add_attempt(const RunRow& failed) {
  return with_database(parts_->folder, [&]() -> Result<RunRow> {
    SQLite::Database& database = *parts_->database;
    SQLite::Transaction transaction(database);
    SQLite::Statement moved(database, "UPDATE run SET folder = ? WHERE id = ?");
    moved.bind(1, failed_folder(failed));
    moved.bind(2, failed.id);
    moved.exec();
    SQLite::Statement insert(database, kInsertRun);
    insert_run(insert, parts_->plan, failed.planned, failed.planned.position, failed.attempt + 1);
    RunRow next;
    next.id = database.getLastInsertRowid();
    next.planned = failed.planned;
    next.attempt = failed.attempt + 1;
    transaction.commit();
    return next;
  });
}

Status Store::set_running(const RunRow& run, const Processes& processes) {
  return with_database(parts_->folder, [&]() -> Status {
    const Unsynced unsynced(*parts_->database);
    SQLite::Statement update(*parts_->database,
                             "UPDATE run SET pid = ?, start_ticks = ?, supervisor_pid = ?, supervisor_start_ticks = ?, "
                             "boot_id = ?, state = 'running', started_realtime_ns = ? WHERE id = ?");
    bind_processes(update, processes);
    update.bind(6, run.started_realtime_ns);
    update.bind(7, run.id);
    update.exec();
    return {};
  });
}

Status Store::set_helper(const Processes& processes) {
  return with_database(parts_->folder, [&]() -> Status {
    const Unsynced unsynced(*parts_->database);
    SQLite::Transaction transaction(*parts_->database);
    parts_->database->exec("DELETE FROM helper");
    SQLite::Statement insert(*parts_->database,
                             "INSERT INTO helper (pid, start_ticks, supervisor_pid, supervisor_start_ticks, boot_id) "
                             "VALUES (?, ?, ?, ?, ?)");
    bind_processes(insert, processes);
    insert.exec();
    transaction.commit();
    return {};
  });
}

Status Store::set_ended(const RunRow& run) {
  return with_database(parts_->folder, [&]() -> Status {
    SQLite::Database& database = *parts_->database;
    SQLite::Transaction transaction(database);
    SQLite::Statement update(
        database,
        "UPDATE run SET state = ?, exit_status = ?, started_realtime_ns = ?, ended_realtime_ns = ?, "
        "failure = ?, interrupted = ? WHERE id = ?");
    update.bind(1, state_name(run.state));
    if (run.exit_status) update.bind(2, *run.exit_status);
    update.bind(3, run.started_realtime_ns);
    update.bind(4, run.ended_realtime_ns);
    update.bind(5, run.failure);
    update.bind(6, run.interrupted ? 1 : 0);
    update.bind(7, run.id);
    update.exec();
    bind_values(database, "figure", run.id, run.figures);
    bind_values(database, "machine", run.id, run.machine);
    bind_values(database, "fact", run.id, run.facts);
    transaction.commit();
    return {};
  });
}

Status Store::set_looks(int32_t looks) {
  return with_database(parts_->folder, [&]() -> Status {
    SQLite::Statement update(*parts_->database, "UPDATE sweep SET looks = max(looks, ?)");
    update.bind(1, looks);
    update.exec();
    return {};
  });
}

Result<std::vector<Store::Running>> Store::running() {
  auto all = runs();
  if (!all) return tl::make_unexpected(all.error());
  return with_database(parts_->folder, [&]() -> Result<std::vector<Running>> {
    std::vector<Running> result;
    SQLite::Statement marks(
        *parts_->database,
        "SELECT pid, start_ticks, supervisor_pid, supervisor_start_ticks, boot_id FROM run WHERE id = ?");
    for (RunRow& run : *all) {
      if (run.state != RunState::kRunning) continue;
      marks.reset();
      marks.bind(1, run.id);
      if (marks.executeStep()) result.push_back({std::move(run), processes_of(marks)});
    }
    return result;
  });
}

Result<Processes> Store::helper() {
  return with_database(parts_->folder, [&]() -> Result<Processes> {
    SQLite::Statement marks(*parts_->database,
                            "SELECT pid, start_ticks, supervisor_pid, supervisor_start_ticks, boot_id FROM helper");
    return marks.executeStep() ? processes_of(marks) : Processes();
  });
}

}  // namespace mlrun::sweep
