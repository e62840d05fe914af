// SPDX-License-Identifier: Apache-2.0
// Classifies Python stacks by the files and functions in them: loading, pickling, checkpoint and so on.
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
  // The innermost line outside of installed packages, as `train.py:12 Loader.fetch`; empty: none.
  const std::string& line(int32_t stack_id);
  // Whether the stack makes an object or starts a process, which may be a loader's data set or its workers.
  bool makes(int32_t stack_id);
  // Whether the stack is in a Python function on file names, such as those of pathlib.
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
  std::unordered_set<std::string> readers_;  // by file and name: functions that read data
  std::unordered_set<std::string> sets_;     // by file and name: classes of data sets
};

}  // namespace mlrun::blame
