// SPDX-License-Identifier: Apache-2.0
// Which file of the trace an inode meant at a moment: a file system gives the number of a deleted file to a new one.
//
//   time       ──────────●───────●────────────────────●──────▶
//                      seen    made anew            seen
//   the file   first one, a     │  not known, then b (its name was seen later, and it was there since it was made)
//
// What a file on overlayfs has on a disk is another inode's, of a file system below it. Where nothing has told of that by
// name (the functions that would cannot be probed), it is known by its number, which overlayfs gives on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runner/model/file_table.h"
#include "runner/util/flat_map.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::trace {

// Of a run that observes. Device as stat() has it.
struct FileSeen {
  int64_t ns = 0, file_id = 0;
};
struct FileMade {
  int64_t device = 0;
  uint64_t inode = 0;
  int64_t ns = 0;
};

class FilesByInode {
 public:
  // Of the files that are not in `seen`, several paths of one inode, the first one is meant at all times.
  FilesByInode(const model::FileTable& files, const std::vector<FileSeen>& seen, const std::vector<FileMade>& made);

  // 0: none with a name; it is counted. Device as the kernel has it.
  [[nodiscard]] int64_t find(uint32_t device, uint64_t inode, int64_t ts_ns);
  // Inodes without one.
  [[nodiscard]] int64_t nameless() const { return static_cast<int64_t>(nameless_.size()); }

 private:
  struct Life {
    int64_t from_ns, file_id;  // 0: one whose name nobody saw
  };
  void add_seen(const model::FileTable& files, const std::vector<FileSeen>& seen, const std::vector<FileMade>& made);
  static std::vector<Life> lives_of(std::vector<FileSeen>& seen, std::vector<int64_t>& made_ns);

  using Ids = summary::FlatMap<uint32_t, util::SpillAllocator>;

  Ids ids_;                                                // of files that were there all the time
  std::unordered_map<uint64_t, std::vector<Life>> lives_;  // of the others, by time
  Ids on_overlay_;                                         // files by inode; 0: there are several with that number
  std::unordered_set<uint64_t> nameless_;
};

}  // namespace mlrun::trace
