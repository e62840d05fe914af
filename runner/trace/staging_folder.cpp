// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/staging_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace mlrun::trace {

namespace {

namespace fs = std::filesystem;

Status failed(const std::string& what, const std::error_code& error) {
  return fail("cannot " + what + ": " + error.message());
}

}  // namespace

StagingFolder::StagingFolder(std::string trace_folder)
    : trace_folder_(std::move(trace_folder)), path_(trace_folder_ + "/merging") {}

StagingFolder::StagingFolder(StagingFolder&& other) noexcept
    : trace_folder_(std::move(other.trace_folder_)), path_(std::exchange(other.path_, {})) {}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<StagingFolder> StagingFolder::create(const std::string& trace_folder) {
  StagingFolder staging(trace_folder);
  std::error_code error;
  fs::remove_all(staging.path_, error);
  for (const char* table : {"call", "alloc", "alloc_small"}) {
    const std::string folder = staging.tables() + "/" + table;
    if (!error) fs::create_directories(folder, error);
    if (error) return fail("cannot create " + folder + ": " + error.message());
  }
  return staging;
}

Status StagingFolder::commit() {
  const std::string tables_of_trace = trace_folder_ + "/tables";
  std::error_code error;
  fs::remove(trace_folder_ + "/run.json", error);
  if (error) return failed("remove the old run.json of " + trace_folder_, error);
  fs::remove_all(tables_of_trace, error);
  if (error) return failed("remove the old " + tables_of_trace, error);
  fs::rename(tables(), tables_of_trace, error);
  if (error) return failed("rename " + tables() + " to " + tables_of_trace, error);
  return {};
}

}  // namespace mlrun::trace
