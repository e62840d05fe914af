// SPDX-License-Identifier: Apache-2.0
// session.json: what mlrun knows about a run, in the trace folder while the run lasts; the merger turns it into
// run.json. Keys: runner/launch/README.md. Always replaced as a whole.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/util/result.h"

namespace mlrun::session {

class SessionFile {
 public:
  // A new session, led by this process.
  explicit SessionFile(const std::string& trace_folder);

  // Reads the one in a folder. Fails when there is none.
  static Result<SessionFile> read(const std::string& trace_folder);

  Status write() const;
  void remove() const;

  // Is the mlrun that wrote it still running?
  [[nodiscard]] bool leader_lives() const;
  [[nodiscard]] uint32_t leader_pid() const;
  // Did it run since the last boot of this machine?
  [[nodiscard]] bool same_boot() const;

  nlohmann::json data;

 private:
  SessionFile() = default;
  std::string path_;
};

}  // namespace mlrun::session
