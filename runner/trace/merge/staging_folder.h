// SPDX-License-Identifier: Apache-2.0
// The folder that has a merge's tables until they are complete: TRACE/merging, removed when the merge ends. If the merge
// is killed, the folder stays (kept_files.h). During a merge the trace folder is locked against other merges.
#pragma once

#include <string>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

class StagingFolder {
 public:
  // Does not create the folder yet. Fails if another merge holds the lock.
  static Result<StagingFolder> create(const std::string& trace_folder);
  ~StagingFolder();
  StagingFolder(StagingFolder&& other) noexcept;
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string tables() const { return path_ + "/tables"; }

  // Replaces the trace's tables by these; removes the trace's run.json before.
  Status commit();

 private:
  explicit StagingFolder(std::string trace_folder);
  Status lock();

  std::string trace_folder_, path_;  // path_ empty: this object was moved from, or another merge holds the lock
  util::UniqueFd lock_;
};

}  // namespace mlrun::trace
