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

 private:
  struct Facts {
    StackKind kind = StackKind::kOwn;
    std::string line;
  };
  const Facts& facts(int32_t stack_id);
  void find_readers();

  const Timeline& timeline_;
  std::unordered_map<int32_t, Facts> facts_;
  std::unordered_set<std::string> readers_;  // functions, by file and name
};

}  // namespace mlrun::blame
