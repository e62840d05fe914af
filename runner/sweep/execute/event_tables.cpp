// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/event_tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

// Small tables besides summary_*: what the report reads, and the processes.
constexpr std::array<std::string_view, 9> kKept = {"coverage", "finding", "image", "left_out", "loss",
                                                   "phase",    "process", "step",  "thread"};

}  // namespace

Status delete_event_tables(const std::string& trace_folder) {
  std::error_code error;
  std::vector<fs::path> events;
  for (const auto& table : fs::directory_iterator(fs::path(trace_folder) / "tables", error)) {
    const std::string name = table.path().filename();
    const bool is_kept = name.starts_with("summary_") || std::find(kKept.begin(), kKept.end(), name) != kKept.end();
    if (!is_kept) events.push_back(table.path());
  }
  for (const fs::path& table : events) {
    fs::remove_all(table, error);
    if (error) return fail(fmt::format("cannot delete {}: {}", table.string(), error.message()));
  }
  return {};
}

}  // namespace mlrun::sweep
