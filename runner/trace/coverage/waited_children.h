// SPDX-License-Identifier: Apache-2.0
// Finds children without records that moved no bytes: when a process waits for a child, the kernel adds the child's I/O to
// the parent's totals. If the totals equal the bytes of the parent's recorded calls, the child moved nothing.
#pragma once

#include <cstdint>
#include <set>

#include "runner/model/trace_info.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/flat_map.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

// Key of a child: its parent's proc_id, and its pid as the parent sees it. Never 0, which FlatMap reserves.
inline uint64_t child_key(int32_t parent, int32_t pid) {
  return util::scrambled(uint64_t{1} << 63 | uint64_t(uint32_t(parent)) << 32 | uint32_t(pid));
}

class WaitedChildren {
 public:
  // whole: processes with known totals and almost no unrecorded bytes.
  WaitedChildren(const SpoolIndex& index, const model::TraceInfo& info, std::set<int32_t> whole);

  // `pid`: the child's, as its parent sees it.
  [[nodiscard]] bool moved_nothing(int32_t parent, int32_t pid) const {
    return whole_.contains(parent) && waited_.find(child_key(parent, pid)) != nullptr;
  }
  // Whether a process that recorded moved nothing after its last record.
  [[nodiscard]] bool moved_nothing(int32_t proc_id) const { return moved_nothing_.contains(proc_id); }

 private:
  std::set<int32_t> whole_;
  util::FlatMap<bool> waited_;  // by child_key
  std::set<int32_t> moved_nothing_;
};

}  // namespace mlrun::trace
