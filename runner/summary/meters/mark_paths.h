// SPDX-License-Identifier: Apache-2.0
// Nested ranges by name: a path is a name and its parent path. It has a number, so that work launched in a range can be
// counted for every enclosing range long after these have ended.
//
//   step > forward > conv     3: {conv, in 2}, 2: {forward, in 1}, 1: {step, in 0}
//
// Memory: kPathsMax paths of kNamesMax names. Beyond these a range counts under "further names", without a parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlrun::summary {

class MarkPaths {
 public:
  static constexpr size_t kPathsMax = size_t{1} << 16, kNamesMax = size_t{1} << 13, kDepthMax = 64;

  // A name of marks. name_id 0: names without an id.
  struct Name {
    std::string domain;
    int64_t name_id = 0;
    bool is_rest = false;  // represents the names of all ranges beyond kNamesMax, kPathsMax or kDepthMax
  };
  struct Path {
    int32_t parent = 0;
    uint32_t name = 0;  // number in names()
    uint32_t depth = 1;
  };

  MarkPaths();

  // Number of the path of a range within the path `parent` (0: none). `key` identifies domain and name; `domain` is called only for a new key.
  template <typename Domain>
  int32_t path_of(int32_t parent, uint64_t key, int64_t name_id, Domain domain) {
    const auto known = names_by_key_.find(key);
    if (known != names_by_key_.end()) return path_in(parent, known->second);
    if (names_.size() >= kNamesMax) return kRest;
    names_by_key_.emplace(key, static_cast<uint32_t>(names_.size()));
    names_.push_back({domain(), name_id, false});
    return path_in(parent, static_cast<uint32_t>(names_.size() - 1));
  }

  // Requires: a valid path, not 0.
  [[nodiscard]] const Path& path(int32_t number) const { return paths_[static_cast<size_t>(number) - 1]; }
  [[nodiscard]] const std::vector<Name>& names() const { return names_; }

 private:
  static constexpr int32_t kRest = 1;
  int32_t path_in(int32_t parent, uint32_t name);

  std::vector<Name> names_;
  std::unordered_map<uint64_t, uint32_t> names_by_key_;
  std::vector<Path> paths_;                          // index + 1: number
  std::unordered_map<uint64_t, int32_t> by_parent_;  // by parent << 32 | name
};

}  // namespace mlrun::summary
