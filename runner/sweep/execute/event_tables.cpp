// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/event_tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/run.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

// Small tables that are kept, besides summary_*: those that the report reads, and the processes.
constexpr std::array<std::string_view, 9> kKept = {"coverage", "finding", "image", "left_out", "loss",
                                                   "phase",    "process", "step",  "thread"};

// Folders of tables of events that have files.
std::vector<fs::path> event_tables(const std::string& trace_folder) {
  std::error_code error;
  std::vector<fs::path> events;
  for (const auto& table : fs::directory_iterator(fs::path(trace_folder) / "tables", error)) {
    const std::string name = table.path().filename();
    const bool is_kept = name.starts_with("summary_") || std::find(kKept.begin(), kKept.end(), name) != kKept.end();
    if (!is_kept && !fs::is_empty(table.path(), error)) events.push_back(table.path());
  }
  return events;
}

// Called before the tables are deleted, so that a missing table is never taken for damage.
Status note_deleted(const std::string& trace_folder, const std::vector<fs::path>& tables) {
  auto run = model::read_run(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  nlohmann::json& document = *run->document;
  auto& deleted = document["deleted_tables"];
  for (const fs::path& table : tables) {
    const std::string name = table.filename();
    document["tables"].erase(name);
    if (std::find(deleted.begin(), deleted.end(), name) == deleted.end()) deleted.push_back(name);
  }
  return model::write_run(document, trace_folder);
}

}  // namespace

bool has_event_tables(const std::string& trace_folder) { return !event_tables(trace_folder).empty(); }

Status delete_event_tables(const std::string& trace_folder) {
  std::error_code error;
  const std::vector<fs::path> events = event_tables(trace_folder);
  if (events.empty()) return {};
  if (Status noted = note_deleted(trace_folder, events); !noted) return noted;
  // Folders stay: to remove one takes milliseconds on some file systems, and a trace has dozens.
  for (const fs::path& table : events) {
    for (const auto& file : fs::directory_iterator(table, error)) {
      fs::remove(file.path(), error);
      if (error) return fail(fmt::format("cannot delete {}: {}", file.path().string(), error.message()));
    }
  }
  return {};
}

}  // namespace mlrun::sweep
