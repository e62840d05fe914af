// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/mark_paths.h"

namespace mlrun::summary {

MarkPaths::MarkPaths() : names_{{"", 0, true}}, paths_{{0, 0, 1}} {}

int32_t MarkPaths::path_in(int32_t parent, uint32_t name) {
  const uint64_t key = uint64_t(static_cast<uint32_t>(parent)) << 32 | name;
  const auto known = by_parent_.find(key);
  if (known != by_parent_.end()) return known->second;
  const uint32_t depth = parent == 0 ? 1 : path(parent).depth + 1;
  if (paths_.size() >= kPathsMax || depth > kDepthMax) return kRest;
  paths_.push_back({parent, name, depth});
  return by_parent_[key] = static_cast<int32_t>(paths_.size());
}

}  // namespace mlrun::summary
