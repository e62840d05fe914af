// SPDX-License-Identifier: Apache-2.0
// The kernel side's report on a library whose calls it probed: the processes that mapped the library, since when it was
// probed there, and the functions whose probes were detached.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class LibraryReport {
 public:
  using Report = std::optional<model::KernelSide::Library>;

  // `stream`: as "cuda"; `library`: as "libcuda"; `files`: text for the files that were searched for in processes.
  // Requires: session and report, which is a member of session.kernel_side, outlive it.
  LibraryReport(const model::Run& session, const Report& report, std::string stream, std::string library,
                std::string files = "the library")
      : session_(session),
        report_(report),
        stream_(std::move(stream)),
        library_(std::move(library)),
        files_(std::move(files)) {}

  // Whether calls of the library were requested.
  [[nodiscard]] bool is_observed() const;
  // Whether session.json has the report. False: mlrun was killed before it wrote the report.
  [[nodiscard]] bool is_there() const { return report_.has_value(); }
  [[nodiscard]] const Report& report() const { return report_; }

  // Adds rows of coverage. `before`, `before_detail`: subject and detail of the row for processes that had loaded the
  // library before the probes were attached.
  void add_gaps(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

 private:
  void add_processes(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

  const model::Run& session_;
  const Report& report_;
  std::string stream_, library_, files_;
};

}  // namespace mlrun::trace
