// SPDX-License-Identifier: Apache-2.0
// Divides the time of a call, or of a kernel file operation, by its thread's waits, the file operations inside it, and
// the bio fragments that it waited for. These are the fragments
// - that its thread queued meanwhile: for the requested range, for metadata or past the page cache (while the thread
//   waits for a free request slot, for any range);
// - of the same inode and range, queued by any thread;
// - for fsync and the like, and for writes with O_SYNC: metadata, journal and flushes of that file system;
// - of the request whose completion woke the thread.
// A call also waits for requests to a file system's server: those that its thread began meanwhile, and those for the
// same file. An asynchronous operation waits from its submission until its completion for the fragments that carry its
// number; the waits of its thread do not count.
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

  // Requires: calls in order of their end. nullopt: kernel records of the call's time were lost or dropped.
  [[nodiscard]] std::optional<model::CallSplit> split(const model::CallRow& row);

  // Requires: operations in order of their end. The labels add up to the time until completion; `own` is 0. nullopt
  // also if the completion of an asynchronous operation was not recorded. syncs: the operation contains an fsync, as a
  // write with O_SYNC does.
  [[nodiscard]] std::optional<model::CallSplit> split(const FileOpRow& row, bool syncs);

 private:
  struct Identity {
    uint32_t device = 0;  // number inside the kernel, not that of stat(); 0: unknown
    uint64_t inode = 0;
  };
  struct Asked {
    int64_t from_ns = 0, to_ns = 0;
    int32_t tid = 0;
    Identity file;
    int64_t begin = 0, end = 0;  // range of the file in bytes, rounded to whole pages; equal: no range
    bool syncs = false;
    uint64_t handed_in = 0;  // number of an asynchronous operation; 0: the thread itself waits
    void set_range(int64_t offset, int64_t bytes);
    [[nodiscard]] bool has_range() const { return begin < end; }
    [[nodiscard]] bool overlaps(const FragmentSpan& fragment) const {
      return fragment.begin < end && fragment.end > begin;
    }
  };
  [[nodiscard]] Asked what_was_asked(const model::CallRow& row);
  [[nodiscard]] static Asked what_was_asked(const FileOpRow& row, bool syncs);
  bool add_waits(const Asked& asked);
  [[nodiscard]] uint32_t device_written_to(const Asked& asked) const;
  void add_fragments(const Asked& asked);
  void add_parts_of_file(const Asked& asked);
  void add_handed_in(const Asked& asked);
  void add_remote_requests(const Asked& asked);
  void add_link(const Asked& asked, const ThreadWait& wait);
  void add(Span on_device, const FragmentSpan& fragment, int64_t from_ns, int64_t to_ns);

  const KernelWindow& window_;
  std::vector<Identity> files_;                  // by file_id - 1
  std::unordered_set<int64_t> written_through_;  // open file descriptions with O_SYNC or O_DSYNC
  TimeSweep sweep_;
};

}  // namespace mlrun::trace
