// SPDX-License-Identifier: Apache-2.0
// DFTracer's events: those of the categories POSIX and STDIO become calls on files. They have hashes of file
// names, for which M events give the names; older versions write the name itself.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class Dftracer {
 public:
  explicit Dftracer(TraceMaker& to) : to_(to) {}

  // Takes the name of a file from an M event.
  void learn(const ChromeEvent& event);
  // Adds an X event. Sets `taken` if it was a call on a file.
  Status add(const ChromeEvent& event, const model::Origin& origin, int64_t dur_ns, bool& taken);

 private:
  TraceMaker& to_;
  JsonMembers members_;
  struct File {
    int64_t file_id = 0;
    bool has_path = false;
  };
  std::unordered_map<std::string, File> files_;  // by hash
};

}  // namespace mlrun::exchange
