// SPDX-License-Identifier: Apache-2.0
// The range in which a CUDA call was made: the innermost (latest begun) open one of its thread; for a thread without
// one (autograd's), the innermost of those that count for the whole process:
//
//   ranges of NVTX that belong to the process, of mlrun_mark.h, and of the main thread; intervals of the log
//
// Marks arrive in order of time and calls in order of their ends, so a call is looked up after ranges that began or
// ended later. So changes of the innermost range are kept: the last kThreadChanges of each thread and kProcessChanges
// of each process. If they exceed kChangesMax in total, all are cut to kThreadChanges. For earlier moments the range is
// unknown.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

// An open range. mark_id 0: none.
struct OpenMark {
  int64_t mark_id = 0;  // increases in the order of beginnings
  int64_t start_ns = 0;
  int32_t path = 0;
};

// The innermost range of a set over time.
class MarkTimeline {
 public:
  // `kept`: number of past changes to keep; 0: all.
  explicit MarkTimeline(size_t kept) : kept_(kept) {}

  // Requires: in order of time.
  void begin(int64_t at_ns, const OpenMark& mark);
  void end(int64_t at_ns, int64_t mark_id);

  [[nodiscard]] OpenMark now() const { return open_.empty() ? OpenMark{} : open_.back().mark; }
  // The innermost range at `ns`. False: the changes at that time are no longer kept.
  bool at(int64_t ns, OpenMark& mark) const;

  // Keeps at most that many of the latest changes.
  void keep(size_t changes);
  [[nodiscard]] size_t changes() const { return changes_.size(); }

 private:
  struct Open {
    OpenMark mark;
    bool has_ended = false;
  };
  struct Change {
    int64_t at_ns = 0;
    OpenMark innermost;
  };
  void note(int64_t at_ns);

  size_t kept_, ended_ = 0;
  std::vector<Open> open_;  // by mark_id; the last one is open
  std::vector<Change> changes_;
  bool has_forgotten_ = false;
};

class OpenMarks {
 public:
  // Intervals of the log, which are known in advance. `paths`: of each mark.
  void set_log(std::span<const model::MarkRow> marks, std::span<const int32_t> paths);

  // The range that encloses one that begins now.
  [[nodiscard]] OpenMark around(const model::Origin& origin) const;
  // A range of a process, or of a thread.
  void begin(const model::Origin& origin, const OpenMark& mark, bool is_of_process, bool counts_for_process);
  // Same arguments as for begin().
  void end(const model::Origin& begun, int64_t at_ns, const OpenMark& mark, bool is_of_process,
           bool counts_for_process);

  // Sets mark_id and mark_path of a call. Requires: the row has its thread, and all ranges that began before the call's
  // end were added. False: the call began too long ago.
  bool fill(model::GpuWorkRow& call) const;

 private:
  static constexpr size_t kThreadChanges = 16, kProcessChanges = 4096, kChangesMax = size_t{1} << 20;
  void note_change(const MarkTimeline& timeline, size_t changes_before);
  void make_room();
  [[nodiscard]] OpenMark process_wide(int32_t proc_id, int64_t ns, bool& is_known) const;

  std::unordered_map<int32_t, MarkTimeline> threads_, processes_;
  MarkTimeline log_{0};
  size_t changes_ = 0, changes_max_ = kChangesMax;  // of threads and processes
};

}  // namespace mlrun::trace
