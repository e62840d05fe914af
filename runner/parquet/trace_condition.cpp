// SPDX-License-Identifier: Apache-2.0
#include "runner/parquet/trace_condition.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/parquet/parquet_table.h"
#include "runner/util/damaged_trace.h"

namespace mlrun::tables {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool has_end(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(kMagic.size(), '\0');
  file.seekg(-static_cast<std::streamoff>(kMagic.size()), std::ios::end);
  return file.read(magic.data(), static_cast<std::streamsize>(magic.size())) && magic == kMagic;
}

Status check_table(const std::string& trace_folder, const std::string& table, const json& expected) {
  const fs::path folder = fs::path(trace_folder) / "tables" / table;
  uint64_t files = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".parquet") continue;
    ++files;
    if (!has_end(at->path()))
      return util::damaged_trace(trace_folder, at->path().string() + " is cut off or unreadable");
  }
  const uint64_t wanted = expected.is_number_unsigned() ? expected.get<uint64_t>() : 0;
  if (files >= wanted) return {};
  return util::damaged_trace(
      trace_folder, fmt::format("of the table '{}' {} of {} files are missing", table, wanted - files, wanted));
}

}  // namespace

Status check_schema_version(const std::string& trace_folder, int64_t version) {
  if (version <= kTraceSchemaVersion) return {};
  return fail(
      fmt::format("{} was made by a newer mlrun (schema {}; this one reads up to {}): read it with that version",
                  trace_folder, version, kTraceSchemaVersion));
}

Status check_schema_version(const std::string& trace_folder, const json& run) {
  const auto found = run.find("schema_version");
  if (found == run.end()) return {};
  if (!found->is_number()) return util::damaged_trace(trace_folder, "schema_version of run.json is not a number");
  return check_schema_version(trace_folder, found->get<int64_t>());
}

json table_files(const std::string& tables_folder) {
  json tables = json::object();
  std::error_code error;
  for (fs::recursive_directory_iterator at(tables_folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".parquet") continue;
    json& files = tables[at->path().parent_path().filename().string()];
    files = files.is_null() ? 1 : files.get<int>() + 1;
  }
  return tables;
}

bool is_deleted(const json& run, const std::string& table) {
  const auto deleted = run.find("deleted_tables");
  return deleted != run.end() && std::find(deleted->begin(), deleted->end(), table) != deleted->end();
}

Status check_tables(const std::string& trace_folder, const json& run, const std::string& table) {
  if (is_deleted(run, table)) {
    return fail(
        fmt::format("the table '{}' of {} was deleted: a sweep keeps only the events of the first repetition, "
                    "unless it is made with --all",
                    table, trace_folder));
  }
  const auto tables = run.find("tables");
  if (tables == run.end() || !tables->is_object()) return {};
  for (const auto& [name, files] : tables->items()) {
    if (!table.empty() && name != table) continue;
    if (Status whole = check_table(trace_folder, name, files); !whole) return whole;
  }
  return {};
}

}  // namespace mlrun::tables
