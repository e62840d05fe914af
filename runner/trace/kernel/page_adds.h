// SPDX-License-Identifier: Apache-2.0
// Pages that reads and page faults added to the page cache, by call and by kernel operation: in the requested range
// (misses) and outside of it (read-ahead). All additions come first, then the queries, in any order.
//
// A file on overlayfs has no pages of its own: those of a file below are added, under another inode. So for overlayfs
// all pages count that the thread added meanwhile; if kernel functions are probed, the operation below has its own row
// with them. A copy also adds pages of its target: for a copy out of overlayfs those pages count that have the source's
// inode number, which the file below shares unless it was copied up on a write.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::trace {

struct ReadPages {
  int64_t missing = 0, ahead = 0;
};

class PageAdds {
 public:
  // Beyond a few million additions the rest is dropped: counts are then too low.
  void add(const mlrun_page_add& add);
  // Requires: all were added, and `files` is complete. has_inner: overlayfs operations have one below them.
  void finish(const model::FileTable& files, bool has_inner);

  // For reads and copies of a regular file, and calls that read ahead; nullopt for others. Thread-safe.
  [[nodiscard]] std::optional<ReadPages> of(const model::CallRow& row) const;
  // For reads, splices from a file and page faults; nullopt for others. An asynchronous operation counts pages added
  // until its thread returned. A fault requests one page.
  [[nodiscard]] std::optional<ReadPages> of(const mlrun_file_op& operation) const;
  // The same for an operation inside no other, including the operations below it.
  [[nodiscard]] std::optional<ReadPages> of_outermost(const mlrun_file_op& operation) const;

 private:
  struct Added {
    int64_t ns, first_page, pages;
    uint64_t inode;
    uint32_t device;  // as in stat, low half
  };
  struct Identity {
    uint32_t device;
    uint64_t inode;
    bool is_overlay = false;  // its pages belong to another inode
  };
  // A thread's query for a time range; the file range is in bytes; without one, all pages are outside of it.
  struct Asked {
    int32_t tid;
    int64_t from_ns, to_ns, offset, bytes;
    Identity file;
  };
  [[nodiscard]] ReadPages pages_of(const Asked& asked) const;
  [[nodiscard]] std::optional<ReadPages> of(const mlrun_file_op& operation, bool takes_all_on_overlay) const;
  std::unordered_map<int32_t, std::vector<Added>> by_thread_;
  std::vector<Identity, util::SpillAllocator<Identity>> files_;  // by file_id - 1
  std::unordered_set<uint32_t> overlays_;                        // devices of overlayfs mounts
  bool has_inner_ = false;
  size_t count_ = 0;
};

}  // namespace mlrun::trace
