// SPDX-License-Identifier: Apache-2.0
// Pages that reads and page faults added to the page cache, by call and by kernel operation: in the requested range
// (misses) and outside of it (read-ahead). Requires: all additions come before the first query.
//
// A file on overlayfs has no pages of its own: reading it adds pages of the file in a lower or upper layer, which has
// another inode. So for overlayfs all pages count that the thread added meanwhile; if kernel functions are probed, the
// operation on the layer's file has its own row with them. A copy also adds pages of its target: for a copy out of
// overlayfs only pages with the source's inode number count, which the layer's file shares unless a write copied it up.
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
  // Beyond a few million additions, further ones are dropped: page counts are then too low.
  void add(const mlrun_page_add& add);
  // Requires: all additions were made, and `files` is complete. has_inner: each operation on overlayfs is recorded
  // together with the operation on the layer's file.
  void finish(const model::FileTable& files, bool has_inner);

  // For calls that read or copy a regular file, or read ahead; nullopt for other calls. Thread-safe.
  [[nodiscard]] std::optional<ReadPages> of(const model::CallRow& row) const;
  // For reads, splices from a file and page faults; nullopt for other operations. An asynchronous operation counts the
  // pages added until its submission returned. A fault requests one page.
  [[nodiscard]] std::optional<ReadPages> of(const mlrun_file_op& operation) const;
  // The same for an outermost operation, including the pages of the operations inside it.
  [[nodiscard]] std::optional<ReadPages> of_outermost(const mlrun_file_op& operation) const;

 private:
  struct Added {
    int64_t ns, first_page, pages;
    uint64_t inode;
    uint32_t device;  // device number of stat(), low 32 bits
  };
  struct Identity {
    uint32_t device;
    uint64_t inode;
    bool is_overlay = false;  // its pages belong to another inode
  };
  // A query for the pages that a thread added in a time range. The file range is in bytes; if it is empty, all pages
  // count as outside of it.
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
