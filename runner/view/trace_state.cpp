// SPDX-License-Identifier: Apache-2.0
#include "runner/view/trace_state.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/parquet/trace_condition.h"
#include "runner/session/session_file.h"
#include "runner/session/sweep_folder.h"

namespace mlrun::view {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / name, ignored);
}

// Files that are deleted when a trace is finished; its size is computed just before.
bool is_raw(const fs::path& name) {
  return name == MLRUN_SPOOL_FILE || name == MLRUN_KEPT_FILE || name == MLRUN_KERNEL_FILE || name == MLRUN_SUMS_FILE ||
         name == MLRUN_SESSION_FILE;
}

}  // namespace

TraceState state_of(const std::string& folder) {
  if (has(folder, "run.json")) return TraceState::kFinished;
  if (!has(folder, MLRUN_SESSION_FILE)) return TraceState::kNone;
  const auto session = session::SessionFile::read(folder);
  return session && session->leader_lives() ? TraceState::kRunning : TraceState::kUnfinished;
}

Result<model::Run> open_trace(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    const char* what = fs::exists(folder, error) ? " is no folder" : " does not exist";
    return fail(folder + what + "; give the folder of a trace, mlrun list DIR shows those in DIR");
  }
  switch (state_of(folder)) {
    case TraceState::kNone:
      if (session::is_sweep(folder)) {
        return fail(fmt::format("{0} is a sweep: see mlrun sweep stat {0}; its traces are in {0}/runs", folder));
      }
      return fail(folder + " holds no trace (it has no run.json); mlrun list DIR shows the traces in a folder");
    case TraceState::kRunning: return fail(folder + " is still being recorded; try again when the run has ended");
    case TraceState::kUnfinished: return fail(folder + " was not finished; finish it with: mlrun recover " + folder);
    case TraceState::kFinished: break;
  }
  auto run = model::read_run(folder);
  if (!run) return run;
  if (Status known = tables::check_schema_version(folder, *run->document); !known)
    return tl::make_unexpected(known.error());
  return run;
}

int64_t size_of(const std::string& folder) {
  const bool leaves_out_raw = state_of(folder) == TraceState::kFinished;
  int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || (leaves_out_raw && is_raw(at->path().filename()))) continue;
    if (const auto size = at->file_size(gone); !gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

}  // namespace mlrun::view
