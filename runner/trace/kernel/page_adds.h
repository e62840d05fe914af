// SPDX-License-Identifier: Apache-2.0
// Pages that reads and page faults brought into the page cache, by call and by the kernel's operation: in the range that it
// asked for (they were missing), and beyond it (read ahead). Additions come first, then calls and operations ask, in any
// order.
//
// A file on overlayfs has no pages of its own, those of a file below it are added, of another inode: with it count all that
// the thread added meanwhile. Where functions of the kernel tell of operations the one below has its own, and they are its.
// A copy adds pages of the file that it writes, too: out of a file on overlayfs those count that are of an inode with its number, as
// a file below has, unless it was written to and so copied up.
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
  // Beyond a few million additions the rest is left out: calls then say less than there was.
  void add(const mlrun_page_add& add);
  // Requires: all were added, and `files` is complete. has_inner: operations on overlayfs have one below them.
  void finish(const model::FileTable& files, bool has_inner);

  // Of a read or copy of a regular file, and of what has it read ahead; nothing for other calls. From several threads at once.
  [[nodiscard]] std::optional<ReadPages> of(const model::CallRow& row) const;
  // Of a read, a splice from a file or a page fault; nothing for other operations. Of one that was handed in what came
  // meanwhile. A fault asks for one page.
  [[nodiscard]] std::optional<ReadPages> of(const mlrun_file_op& operation) const;
  // The same of an operation that lies in no other one, with what those below it have.
  [[nodiscard]] std::optional<ReadPages> of_outermost(const mlrun_file_op& operation) const;

 private:
  struct Added {
    int64_t ns, first_page, pages;
    uint64_t inode;
    uint32_t device;  // as stat has it, low half
  };
  struct Identity {
    uint32_t device;
    uint64_t inode;
    bool is_overlay = false;  // its pages are those of another inode
  };
  // Of a thread in a time; the range is in bytes, none: all is beyond it.
  struct Asked {
    int32_t tid;
    int64_t from_ns, to_ns, offset, bytes;
    Identity file;
  };
  [[nodiscard]] ReadPages pages_of(const Asked& asked) const;
  [[nodiscard]] std::optional<ReadPages> of(const mlrun_file_op& operation, bool takes_all_on_overlay) const;
  std::unordered_map<int32_t, std::vector<Added>> by_thread_;
  std::vector<Identity, util::SpillAllocator<Identity>> files_;  // by file_id - 1
  std::unordered_set<uint32_t> overlays_;                        // devices of overlayfs
  bool has_inner_ = false;
  size_t count_ = 0;
};

}  // namespace mlrun::trace
