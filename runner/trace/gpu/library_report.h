// SPDX-License-Identifier: Apache-2.0
// The kernel side's report on a library whose calls it probed: the processes that mapped the library, since when it was
// probed there, and the functions whose probes were detached.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

class LibraryReport {
 public:
  // `key`: name of the report and of the stream, as "cuda"; `library`: as "libcuda"; `files`: text for the files that
  // were searched for in processes. Requires: session outlives it.
  LibraryReport(const SessionInfo& session, std::string key, std::string library, std::string files = "the library")
      : session_(session), key_(std::move(key)), library_(std::move(library)), files_(std::move(files)) {}

  // Whether calls of the library were requested.
  [[nodiscard]] bool is_followed() const;
  // Whether session.json has the report. False: mlrun was killed before it wrote the report.
  [[nodiscard]] bool is_there() const;
  // The JSON objects of a list in the report.
  [[nodiscard]] nlohmann::json list(const char* name) const;

  // Adds rows of coverage. `before`, `before_detail`: subject and detail of the row for processes that had loaded the
  // library before the probes were attached.
  void add_gaps(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

 private:
  void add_processes(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

  const SessionInfo& session_;
  std::string key_, library_, files_;
};

}  // namespace mlrun::trace
