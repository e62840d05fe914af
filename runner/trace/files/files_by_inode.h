// SPDX-License-Identifier: Apache-2.0
// Finds the file that an inode number meant at a moment: file systems reuse the numbers of deleted files.
//
//   time       ──────────●───────●────────────────────●──────▶
//                     a seen    created            b seen
//   the file   a                 │ b (its name was seen later, but it exists since it was created)
//
// On overlayfs, a file's blocks on a disk belong to another inode, of the file system below. If no probe recorded that
// inode by name, the file is found by its inode number, which overlayfs passes through.
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

// A name observation (observe mode). Device as in stat().
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
  // An inode that has several paths but is not in `seen` always means the file of the first path.
  FilesByInode(const model::FileTable& files, const std::vector<FileSeen>& seen, const std::vector<FileMade>& made);

  // The file_id; 0: no file with a known name, and nameless() counts the inode. `device`: the kernel's number.
  [[nodiscard]] int64_t find(uint32_t device, uint64_t inode, int64_t ts_ns);
  // Number of inodes without a name.
  [[nodiscard]] int64_t nameless() const { return static_cast<int64_t>(nameless_.size()); }

 private:
  struct Life {
    int64_t from_ns, file_id;  // 0: its name was never seen
  };
  void add_seen(const model::FileTable& files, const std::vector<FileSeen>& seen, const std::vector<FileMade>& made);
  static std::vector<Life> lives_of(std::vector<FileSeen>& seen, std::vector<int64_t>& made_ns);

  using Ids = util::FlatMap<uint32_t, util::SpillAllocator>;

  Ids ids_;                                                // inodes not in `seen`: one file for the whole run
  std::unordered_map<uint64_t, std::vector<Life>> lives_;  // inodes in `seen`: their files in order of time
  Ids on_overlay_;                                         // by inode number; 0: several files have it
  std::unordered_set<uint64_t> nameless_;
};

}  // namespace mlrun::trace
