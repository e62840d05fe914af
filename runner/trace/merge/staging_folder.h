// SPDX-License-Identifier: Apache-2.0
// Where a merge writes its tables until they are complete: TRACE/merging, gone when the merge ends. One that was killed
// leaves it (kept_parts.h). As long as a merge is at work the trace folder is locked against others.
#pragma once

#include <string>

#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

class StagingFolder {
 public:
  // Makes no folder yet. Fails when another merge is at work.
  static Result<StagingFolder> create(const std::string& trace_folder);
  ~StagingFolder();
  StagingFolder(StagingFolder&& other) noexcept;
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string tables() const { return path_ + "/tables"; }

  // Puts the tables in the place of the trace's; the trace has no run.json then.
  Status commit();

 private:
  explicit StagingFolder(std::string trace_folder);
  Status lock();

  std::string trace_folder_, path_;  // path_ empty: moved from, or another merge's
  util::UniqueFd lock_;
};

}  // namespace mlrun::trace
