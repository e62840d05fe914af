// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/staging_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
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
    : trace_folder_(std::move(other.trace_folder_)),
      path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)) {}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<StagingFolder> StagingFolder::create(const std::string& trace_folder) {
  StagingFolder staging(trace_folder);
  if (auto locked = staging.lock(); !locked) {
    staging.path_.clear();
    return tl::make_unexpected(locked.error());
  }
  return staging;
}

// The kernel releases the lock however the process ends. On a file system without locks the merge runs unlocked.
Status StagingFolder::lock() {
  lock_.reset(::open(trace_folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_.valid()) return fail_errno("open " + trace_folder_, errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return fail("cannot merge " + trace_folder_ + ": another merge of it is running; wait until that one has ended");
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
