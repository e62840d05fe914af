// SPDX-License-Identifier: Apache-2.0
// In which range a call of CUDA was made: the innermost one (the last that was begun) of its thread; of a thread that has
// none open (autograd's), the innermost of those that count for the process as a whole:
//
//   ranges of NVTX that belong to the process, of mlrun_mark.h, and of the main thread; intervals of the log
//
// Beginnings and ends come in the order of time and calls in that of their ends, so a call is asked about after ranges that
// began or ended later. What was innermost before that is kept: of a thread kThreadChanges, of a process
// kProcessChanges; when they are kChangesMax in all, kThreadChanges of each. Of an earlier moment the answer is "not known".
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/model/gpu_rows.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

// A range that has begun. mark_id 0: none.
struct OpenMark {
  int64_t mark_id = 0;  // rises in the order of beginnings
  int64_t start_ns = 0;
  int32_t path = 0;
};

// Which range was the innermost of a set at which time.
class MarkTimeline {
 public:
  // How many changes can be looked back; 0: all.
  explicit MarkTimeline(size_t kept) : kept_(kept) {}

  // In the order of time.
  void begin(int64_t at_ns, const OpenMark& mark);
  void end(int64_t at_ns, int64_t mark_id);

  [[nodiscard]] OpenMark now() const { return open_.empty() ? OpenMark{} : open_.back().mark; }
  // False: that is too long ago.
  bool at(int64_t ns, OpenMark& mark) const;

  // Keeps the last so many changes at most.
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
  std::vector<Open> open_;  // by mark_id; the last has not ended
  std::vector<Change> changes_;
  bool has_forgotten_ = false;
};

class OpenMarks {
 public:
  // Intervals of the log, which are known beforehand. `paths`: of each mark.
  void set_log(std::span<const model::MarkRow> marks, std::span<const int32_t> paths);

  // What a range lies in that begins now.
  [[nodiscard]] OpenMark around(const model::Origin& origin) const;
  // A range of a process, or of a thread.
  void begin(const model::Origin& origin, const OpenMark& mark, bool is_of_process, bool counts_for_process);
  // As it was begun.
  void end(const model::Origin& begun, int64_t at_ns, const OpenMark& mark, bool is_of_process,
           bool counts_for_process);

  // Fills mark_id and mark_path of a call. Requires: the row has its thread, and ranges that were begun before the call's end
  // have been told. False: it began too long ago.
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
