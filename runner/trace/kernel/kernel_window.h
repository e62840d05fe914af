// SPDX-License-Identifier: Apache-2.0
// Recent records of the kernel side, for the calls and operations that are split next: when threads were off CPU, and
// which bio fragments were in flight. When the window is full, the oldest records are dropped; knows() is false for
// times of which records were dropped or lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/events/kernel_record.h"

namespace mlrun::trace {

struct ThreadWait {
  int64_t off_ns, wake_ns, on_ns;
  uint64_t request;  // the request whose completion woke it; 0: none
  bool asleep, submitting, throttled;
};

// A file operation that is not inside another one.
struct FileOpSpan {
  int64_t from_ns, to_ns;
};

struct FragmentSpan {
  int64_t queued_at_ns, issued_at_ns, done_ns;
  uint64_t request, inode;
  int64_t begin, end;  // byte range in the file, of the whole bio
  uint32_t op, flags;
  uint64_t operation;    // the outermost file operation that queued it; 0: none
  uint32_t file_device;  // the file system's device number
};

struct RequestSpan {
  int64_t queued_at_ns, issued_at_ns, done_ns;
};

// Bio fragments in order of the time at which they were queued.
class FragmentList {
 public:
  void add(const FragmentSpan& fragment);
  size_t forget(int64_t done_before_ns);  // returns the number of dropped fragments
  [[nodiscard]] bool empty() const { return fragments_.empty(); }

  template <typename Visit>
  void queued_within(int64_t from_ns, int64_t to_ns, Visit visit) const {
    for (auto at = first_queued(from_ns); at != fragments_.end() && at->queued_at_ns <= to_ns; ++at) visit(*at);
  }
  template <typename Visit>
  void under_way_within(int64_t from_ns, int64_t to_ns, Visit visit) const {
    for (auto at = first_queued(from_ns - longest_ns_); at != fragments_.end() && at->queued_at_ns < to_ns; ++at) {
      if (at->done_ns > from_ns) visit(*at);
    }
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const FragmentSpan& fragment : fragments_) visit(fragment);
  }

 private:
  [[nodiscard]] std::vector<FragmentSpan>::const_iterator first_queued(int64_t ns) const {
    return std::lower_bound(fragments_.begin(), fragments_.end(), ns, [](const FragmentSpan& fragment, int64_t moment) {
      return fragment.queued_at_ns < moment;
    });
  }
  std::vector<FragmentSpan> fragments_;
  int64_t longest_ns_ = 0;
};

class KernelWindow {
 public:
  // Requires: every record of these kinds is added, in spool order.
  void add(const mlrun_wait& record);
  void add(const mlrun_bio_fragment& record);
  void add(const mlrun_block_request& record);
  void add(const mlrun_file_op& record);
  void add(const mlrun_remote& record);
  void add(const mlrun_kernel_loss& record);

  // False: records of this time range were dropped or lost.
  [[nodiscard]] bool knows(int64_t from_ns, int64_t to_ns) const;

  template <typename Visit>
  void waits(int32_t tid, int64_t from_ns, int64_t to_ns, Visit visit) const {
    const auto thread = waits_.find(tid);
    if (thread == waits_.end()) return;
    auto at = std::lower_bound(thread->second.begin(), thread->second.end(), from_ns,
                               [](const ThreadWait& wait, int64_t ns) { return wait.on_ns <= ns; });
    for (; at != thread->second.end() && at->off_ns < to_ns; ++at) visit(*at);
  }
  template <typename Visit>
  void file_ops(int32_t tid, int64_t from_ns, int64_t to_ns, Visit visit) const {
    const auto thread = file_ops_.find(tid);
    if (thread == file_ops_.end()) return;
    auto at = std::lower_bound(thread->second.begin(), thread->second.end(), from_ns,
                               [](const FileOpSpan& span, int64_t ns) { return span.to_ns <= ns; });
    for (; at != thread->second.end() && at->from_ns < to_ns; ++at) visit(*at);
  }
  // Fragments that a thread queued, and those of an inode; nullptr: none.
  [[nodiscard]] const FragmentList* of_thread(int32_t tid) const {
    return find(by_thread_, static_cast<uint32_t>(tid));
  }
  [[nodiscard]] const FragmentList* of_inode(uint32_t device, uint64_t inode) const;
  // Requests to servers of file systems (9P, NFS, FUSE), by thread and by file; nullptr: none.
  [[nodiscard]] const FragmentList* remote_of_thread(int32_t tid) const {
    return find(remote_by_thread_, static_cast<uint32_t>(tid));
  }
  [[nodiscard]] const FragmentList* remote_of_inode(uint32_t device, uint64_t inode) const;
  // Visits the fragments that a sync of a file system waits for: its writes, and flushes of the disks below it.
  template <typename Visit>
  void syncing(uint32_t file_device, int64_t from_ns, int64_t to_ns, Visit visit) const {
    const auto visit_list = [&](uint32_t device) {
      if (const FragmentList* list = find(by_device_, device)) list->under_way_within(from_ns, to_ns, visit);
    };
    visit_list(file_device);
    const auto disks = disks_.find(file_device);
    if (disks == disks_.end()) return;
    for (const uint32_t disk : disks->second) {
      if (disk != file_device) visit_list(disk);
    }
  }
  [[nodiscard]] const RequestSpan* request(uint64_t number) const {
    const auto found = requests_.find(number);
    return found == requests_.end() ? nullptr : &found->second;
  }

 private:
  using Lists = std::unordered_map<uint64_t, FragmentList>;
  static const FragmentList* find(const Lists& lists, uint64_t key) {
    const auto found = lists.find(key);
    return found == lists.end() ? nullptr : &found->second;
  }
  static uint64_t inode_key(uint32_t device, uint64_t inode);
  void add_to(FragmentList& list, const FragmentSpan& fragment);
  void note_disk(uint32_t file_device, uint32_t disk);
  void forget_old_waits();
  void forget_old_fragments();
  void forget_old_file_ops();

  std::unordered_map<int32_t, std::vector<ThreadWait>> waits_;
  std::unordered_map<int32_t, std::vector<FileOpSpan>> file_ops_;
  Lists by_thread_, by_inode_, by_device_, remote_by_thread_, remote_by_inode_;
  std::unordered_map<uint64_t, RequestSpan> requests_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> disks_;  // by device of the file system
  struct Recent {
    uint64_t request = 0;
    uint32_t file_device = 0;
  };
  std::array<Recent, 64> recent_{};  // fragments whose request record has not arrived yet
  struct Gap {
    int64_t from_ns, to_ns;
  };
  [[nodiscard]] std::vector<Gap>::const_iterator first_gap(int64_t ns) const;
  std::vector<Gap> gaps_;
  size_t wait_count_ = 0, file_op_count_ = 0;
  size_t fragment_count_ = 0;         // entries in all lists of fragments, and requests
  int64_t forgotten_ns_ = INT64_MIN;  // records that ended before this time were dropped
};

}  // namespace mlrun::trace
