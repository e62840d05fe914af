// SPDX-License-Identifier: Apache-2.0
// The kernel side's report on a library whose calls it probed: the processes that had it, from when on, and which of
// its functions were detached.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

class LibraryReport {
 public:
  // `key`: of the report and the stream, as "cuda"; `library`: as "libcuda"; `files`: what was searched for. Requires:
  // session outlives it.
  LibraryReport(const SessionInfo& session, std::string key, std::string library, std::string files = "the library")
      : session_(session), key_(std::move(key)), library_(std::move(library)), files_(std::move(files)) {}

  // Whether its calls were requested.
  [[nodiscard]] bool is_followed() const;
  // False: mlrun did not end by itself.
  [[nodiscard]] bool is_there() const;
  // The objects of that list.
  [[nodiscard]] nlohmann::json list(const char* name) const;

  // Adds rows of coverage. `before`, `before_detail`: what is missing for processes that had loaded the library before
  // the probes were attached.
  void add_gaps(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

 private:
  void add_processes(model::TraceInfo& info, const std::string& before, const std::string& before_detail) const;

  const SessionInfo& session_;
  std::string key_, library_, files_;
};

}  // namespace mlrun::trace
