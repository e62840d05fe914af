// SPDX-License-Identifier: Apache-2.0
// What a Python stack is about, by the files and functions in it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

enum class StackKind : uint8_t { kOwn, kImport, kCheckpoint, kPickle, kLoader, kLogging };

class StackKinds {
 public:
  explicit StackKinds(const Timeline& timeline) : timeline_(timeline) {}

  StackKind kind(int32_t stack_id);
  // The innermost line outside of installed packages: `train.py:12 Loader.fetch`; empty: there is none.
  const std::string& line(int32_t stack_id);
  // Whether it makes an object or starts a process: the data set or the workers of a loader, perhaps.
  bool makes(int32_t stack_id);
  // Whether it is in Python's functions on names of files, such as pathlib.
  bool is_on_names(int32_t stack_id);

 private:
  struct Facts {
    StackKind kind = StackKind::kOwn;
    std::string line;
    bool makes = false, on_names = false;
  };
  const Facts& facts(int32_t stack_id);
  void find_readers();
  void find_sets();
  [[nodiscard]] bool is_of_loader(const std::vector<Frame>& frames) const;

  const Timeline& timeline_;
  std::unordered_map<int32_t, Facts> facts_;
  std::unordered_set<std::string> readers_;  // functions, by file and name
  std::unordered_set<std::string> sets_;     // classes of data sets, by file and name
};

}  // namespace mlrun::blame
