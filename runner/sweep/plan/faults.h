// SPDX-License-Identifier: Apache-2.0
// The faults that were found in a plan, each with its place.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::sweep {

// Where a value was written: "plan.toml:7: configuration.cpus".
struct Place {
  std::string file;
  int line = 0;  // 0: none, for instance for a word of the command line
  std::string key;

  [[nodiscard]] Place below(const std::string& name) const { return {file, line, key + "." + name}; }
};

// Collects the faults of a plan and reports them together, one line each.
class Faults {
 public:
  void add(const Place& place, const std::string& what);
  [[nodiscard]] bool any() const { return !lines_.empty(); }
  // In the order of the file. Requires: any().
  [[nodiscard]] Error error() const;

 private:
  std::vector<std::pair<int, std::string>> lines_;  // line in the file, text
};

}  // namespace mlrun::sweep
