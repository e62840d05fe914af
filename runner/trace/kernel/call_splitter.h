// SPDX-License-Identifier: Apache-2.0
// Where the time of a call went, or of one of the kernel's operations on a file, as its thread's waits, those operations
// and the block parts that it waited for tell. The parts are those
//  - that the thread queued inside the call for the range that was asked for, for metadata or past the page cache; while
//    it waits for its own turn to queue, all that it queued;
//  - of the same inode and range, whoever queued them;
//  - for fsync and its like and for writes with O_SYNC: metadata, journal and flushes of that file system;
//  - of the request whose completion woke it.
// Requests to a file system's server are those that the thread began inside the call, and those for the same file.
// An operation that was handed in waits from then until it is over, for the parts that carry its number, wherever its
// thread is meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/trace/kernel/kernel_window.h"
#include "runner/trace/kernel/time_sweep.h"

namespace mlrun::trace {

struct FileOpRow;

class CallSplitter {
 public:
  // Requires: the window outlives it; `files` is complete.
  CallSplitter(const KernelWindow& window, const model::FileTable& files);

  // Calls in order of their end. Nothing: what the kernel side knew of that time was lost.
  [[nodiscard]] std::optional<model::CallSplit> split(const model::CallRow& row);

  // Operations in order of their end; the sum is the time until it was over, and nothing of it is `own`. Nothing also where
  // the end of what was handed in was not seen. syncs: an fsync lies in it, as in a write with O_SYNC.
  [[nodiscard]] std::optional<model::CallSplit> split(const FileOpRow& row, bool syncs);

 private:
  struct Identity {
    uint32_t device = 0;  // the kernel's own number; 0: not known
    uint64_t inode = 0;
  };
  struct Asked {
    int64_t from_ns = 0, to_ns = 0;
    int32_t tid = 0;
    Identity file;
    int64_t begin = 0, end = 0;  // in whole pages; the same: no range
    bool syncs = false;
    uint64_t handed_in = 0;  // an operation that went on without its thread; 0: a thread that waits by itself
    void set_range(int64_t offset, int64_t bytes);
    [[nodiscard]] bool has_range() const { return begin < end; }
    [[nodiscard]] bool overlaps(const PartSpan& part) const { return part.begin < end && part.end > begin; }
  };
  [[nodiscard]] Asked what_was_asked(const model::CallRow& row);
  [[nodiscard]] static Asked what_was_asked(const FileOpRow& row, bool syncs);
  bool add_waits(const Asked& asked);
  [[nodiscard]] uint32_t device_written_to(const Asked& asked) const;
  void add_parts(const Asked& asked);
  void add_parts_of_file(const Asked& asked);
  void add_handed_in(const Asked& asked);
  void add_remote_requests(const Asked& asked);
  void add_link(const Asked& asked, const ThreadWait& wait);
  void add(Span on_device, const PartSpan& part, int64_t from_ns, int64_t to_ns);

  const KernelWindow& window_;
  std::vector<Identity> files_;                  // by file_id - 1
  std::unordered_set<int64_t> written_through_;  // open file descriptions with O_SYNC or O_DSYNC
  TimeSweep sweep_;
};

}  // namespace mlrun::trace
