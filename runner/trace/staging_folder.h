// SPDX-License-Identifier: Apache-2.0
// Where a merge writes its tables until they are complete: TRACE/merging, gone when the merge ends in whatever way.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::trace {

class StagingFolder {
 public:
  // Removes what an earlier merge left, and makes the folder with those of the event tables.
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
  std::string trace_folder_, path_;  // path_ empty: moved from
};

}  // namespace mlrun::trace
