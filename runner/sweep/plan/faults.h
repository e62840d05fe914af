// SPDX-License-Identifier: Apache-2.0
// What is wrong with a plan, with its places.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::sweep {

// Where a value was written: "plan.toml:7: configuration.cpus".
struct Place {
  std::string file;
  int line = 0;  // 0: none, as of a word of the command line
  std::string key;

  [[nodiscard]] Place below(const std::string& name) const { return {file, line, key + "." + name}; }
};

// What is wrong with a plan, one line each.
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
