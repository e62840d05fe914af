// SPDX-License-Identifier: Apache-2.0
// session.json: what mlrun knows about a run, in the trace folder while the run goes on; the merger makes run.json of
// it. Keys: README.md of this folder. Always replaced as a whole.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/util/result.h"

namespace mlrun::launch {

class SessionFile {
 public:
  // A new session, led by this process.
  explicit SessionFile(const std::string& trace_folder);

  // That of a folder. Fails when there is none.
  static Result<SessionFile> read(const std::string& trace_folder);

  Status write() const;
  void remove() const;

  // Is the mlrun that wrote it still there?
  [[nodiscard]] bool leader_lives() const;
  [[nodiscard]] uint32_t leader_pid() const;
  // Did it run since this machine was last started?
  [[nodiscard]] bool same_boot() const;
  [[nodiscard]] std::string text(const char* pointer) const;  // JSON pointer; empty: not there

  nlohmann::json data;

 private:
  SessionFile() = default;
  std::string path_;
};

}  // namespace mlrun::launch
