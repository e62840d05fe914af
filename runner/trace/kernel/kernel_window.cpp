// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_window.h"

#include "runner/decode/limits.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/kernel_moments.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

namespace {

// A time after at least half of the times in the list, even if they are all equal.
int64_t behind_half(std::vector<int64_t>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle + 1;
}

template <typename Lists>
size_t forget_in(Lists& lists, int64_t before_ns) {
  size_t gone = 0;
  for (auto list = lists.begin(); list != lists.end();) {
    gone += list->second.forget(before_ns);
    list = list->second.empty() ? lists.erase(list) : std::next(list);
  }
  return gone;
}

}  // namespace

// Searches the place from the back: fragments arrive in order of their end, so nearly all belong near the list's end.
void FragmentList::add(const FragmentSpan& fragment) {
  longest_ns_ = std::max(longest_ns_, fragment.done_ns - fragment.queued_at_ns);
  auto at = fragments_.end();
  while (at != fragments_.begin() && (at - 1)->queued_at_ns > fragment.queued_at_ns) --at;
  fragments_.insert(at, fragment);
}

size_t FragmentList::forget(int64_t done_before_ns) {
  return std::erase_if(fragments_, [&](const FragmentSpan& fragment) { return fragment.done_ns < done_before_ns; });
}

uint64_t KernelWindow::inode_key(uint32_t device, uint64_t inode) {
  return util::scrambled(inode ^ util::scrambled(uint64_t{device} + 1));
}

void KernelWindow::add(const mlrun_wait& record) {
  ThreadWait wait{};
  wait.on_ns = time_of(record.head.time_ns);
  wait.off_ns = std::min(time_of(record.off_ns), wait.on_ns);
  wait.wake_ns = std::clamp(time_of(record.wake_ns), wait.off_ns, wait.on_ns);
  wait.asleep = record.state != 0;
  wait.submitting = (record.flags & MLRUN_WAIT_SUBMITTING) != 0;
  wait.throttled = (record.flags & MLRUN_WAIT_THROTTLED) != 0;
  // A completion of a request ends only uninterruptible sleeps. Another wake-up can happen on the processor that is
  // just handling a completion's interrupt, without being caused by it.
  constexpr uint32_t kUninterruptible = 2;
  const bool for_io = (record.flags & MLRUN_WAIT_IO) != 0 || (record.state & kUninterruptible) != 0;
  const bool linked =
      for_io && record.waker_age_ns < decode::kWakerAgeMaxNs && (record.flags & MLRUN_WAIT_LOST_WAKE) == 0;
  if (linked) wait.request = record.waker_request;
  auto& thread = waits_[static_cast<int32_t>(record.head.tid)];
  if (!thread.empty() && thread.back().on_ns > wait.off_ns) return;  // a thread cannot be off CPU twice at once
  thread.push_back(wait);
  if (++wait_count_ > decode::kWindowWaitsMax) forget_old_waits();
}

void KernelWindow::add(const mlrun_file_op& record) {
  if (record.outer != 0) return;
  FileOpSpan span{};
  span.to_ns = time_of(record.head.time_ns);
  span.from_ns = std::min(time_of(record.begin_ns), span.to_ns);
  auto& thread = file_ops_[static_cast<int32_t>(record.head.tid)];
  if (!thread.empty() && thread.back().to_ns > span.from_ns) return;  // a thread runs one operation at a time
  thread.push_back(span);
  if (++file_op_count_ > decode::kWindowFileOpsMax) forget_old_file_ops();
}

void KernelWindow::add(const mlrun_bio_fragment& record) {
  FragmentSpan fragment{};
  fragment.done_ns = time_of(record.head.time_ns);
  fragment.queued_at_ns = std::min(time_of(record.queued_at_ns), fragment.done_ns);
  fragment.issued_at_ns = record.issued_at_ns == 0
                              ? fragment.done_ns
                              : std::clamp(time_of(record.issued_at_ns), fragment.queued_at_ns, fragment.done_ns);
  fragment.request = record.request;
  fragment.inode = record.inode;
  fragment.begin = static_cast<int64_t>(record.file_begin);
  fragment.end = static_cast<int64_t>(record.file_end);
  fragment.op = record.op;
  fragment.flags = record.flags;
  fragment.operation = record.operation;
  fragment.file_device = record.file_device;
  constexpr uint32_t kNotByItsThread = MLRUN_BLOCK_WRITEBACK | MLRUN_BLOCK_METADATA_WRITE;
  if ((fragment.flags & kNotByItsThread) == 0) add_to(by_thread_[record.head.tid], fragment);
  if (fragment.inode != 0) add_to(by_inode_[inode_key(record.file_device, fragment.inode)], fragment);
  if (fragment.op == MLRUN_BLOCK_WRITE || fragment.op == MLRUN_BLOCK_FLUSH)
    add_to(by_device_[record.file_device], fragment);
  recent_[record.request % recent_.size()] = {record.request, record.file_device};
  if (fragment_count_ > decode::kWindowFragmentsMax) forget_old_fragments();
}

void KernelWindow::add(const mlrun_remote& record) {
  FragmentSpan span{};
  span.done_ns = time_of(record.head.time_ns);
  span.queued_at_ns = span.issued_at_ns = std::min(time_of(record.begin_ns), span.done_ns);
  span.inode = record.inode;
  add_to(remote_by_thread_[record.head.tid], span);
  if (span.inode != 0) add_to(remote_by_inode_[inode_key(record.device, span.inode)], span);
  if (fragment_count_ > decode::kWindowFragmentsMax) forget_old_fragments();
}

void KernelWindow::add(const mlrun_block_request& record) {
  RequestSpan span{};
  span.done_ns = time_of(record.head.time_ns);
  span.issued_at_ns = record.issued_at_ns == 0 ? span.done_ns : std::min(time_of(record.issued_at_ns), span.done_ns);
  span.queued_at_ns =
      record.queued_at_ns == 0 ? span.issued_at_ns : std::min(time_of(record.queued_at_ns), span.issued_at_ns);
  fragment_count_ += requests_.insert_or_assign(record.request, span).second ? 1 : 0;
  const Recent& fragment = recent_[record.request % recent_.size()];
  if (fragment.request == record.request) note_disk(fragment.file_device, record.device);
  if (record.op == MLRUN_BLOCK_FLUSH) {
    add_to(by_device_[record.device], {span.queued_at_ns, span.issued_at_ns, span.done_ns, record.request, 0, 0, 0,
                                       record.op, record.flags, 0, 0});
  }
  if (fragment_count_ > decode::kWindowFragmentsMax) forget_old_fragments();
}

void KernelWindow::add_to(FragmentList& list, const FragmentSpan& fragment) {
  list.add(fragment);
  ++fragment_count_;
}

void KernelWindow::note_disk(uint32_t file_device, uint32_t disk) {
  auto& disks = disks_[file_device];
  if (std::find(disks.begin(), disks.end(), disk) == disks.end() && disks.size() < decode::kDisksOfAFileSystem) {
    disks.push_back(disk);
  }
}

// A loss makes a gap, because records of a time range are missing. A completion that was not seen (LOSS_OPEN) makes
// none: one fragment is missing.
void KernelWindow::add(const mlrun_kernel_loss& record) {
  if (record.reason == MLRUN_KERNEL_LOSS_OPEN) return;
  Gap gap{time_of(record.first_ns), time_of(record.head.time_ns)};
  auto first = first_gap(gap.from_ns), last = first;
  for (; last != gaps_.end() && last->from_ns <= gap.to_ns; ++last) {
    gap.from_ns = std::min(gap.from_ns, last->from_ns);
    gap.to_ns = std::max(gap.to_ns, last->to_ns);
  }
  gaps_.insert(gaps_.erase(first, last), gap);
}

// The first gap that ends at `ns` or later. Gaps are in order and disjoint.
std::vector<KernelWindow::Gap>::const_iterator KernelWindow::first_gap(int64_t ns) const {
  return std::lower_bound(gaps_.begin(), gaps_.end(), ns,
                          [](const Gap& gap, int64_t moment) { return gap.to_ns < moment; });
}

bool KernelWindow::knows(int64_t from_ns, int64_t to_ns) const {
  if (from_ns < forgotten_ns_) return false;
  const auto gap = first_gap(from_ns);
  return gap == gaps_.end() || gap->from_ns > to_ns;
}

const FragmentList* KernelWindow::of_inode(uint32_t device, uint64_t inode) const {
  return inode == 0 ? nullptr : find(by_inode_, inode_key(device, inode));
}

const FragmentList* KernelWindow::remote_of_inode(uint32_t device, uint64_t inode) const {
  return inode == 0 ? nullptr : find(remote_by_inode_, inode_key(device, inode));
}

void KernelWindow::forget_old_waits() {
  std::vector<int64_t> times;
  times.reserve(wait_count_);
  for (const auto& [tid, list] : waits_) {
    for (const ThreadWait& wait : list) times.push_back(wait.on_ns);
  }
  const int64_t before_ns = behind_half(times);
  forgotten_ns_ = std::max(forgotten_ns_, before_ns);
  for (auto list = waits_.begin(); list != waits_.end();) {
    wait_count_ -= std::erase_if(list->second, [&](const ThreadWait& wait) { return wait.on_ns < before_ns; });
    list = list->second.empty() ? waits_.erase(list) : std::next(list);
  }
}

void KernelWindow::forget_old_file_ops() {
  std::vector<int64_t> times;
  times.reserve(file_op_count_);
  for (const auto& [tid, list] : file_ops_) {
    for (const FileOpSpan& span : list) times.push_back(span.to_ns);
  }
  const int64_t before_ns = behind_half(times);
  forgotten_ns_ = std::max(forgotten_ns_, before_ns);
  for (auto list = file_ops_.begin(); list != file_ops_.end();) {
    file_op_count_ -= std::erase_if(list->second, [&](const FileOpSpan& span) { return span.to_ns < before_ns; });
    list = list->second.empty() ? file_ops_.erase(list) : std::next(list);
  }
}

void KernelWindow::forget_old_fragments() {
  std::vector<int64_t> times;
  const std::array<Lists*, 5> all = {&by_thread_, &by_inode_, &by_device_, &remote_by_thread_, &remote_by_inode_};
  for (const Lists* lists : all) {
    for (const auto& [key, list] : *lists)
      list.for_each([&](const FragmentSpan& fragment) { times.push_back(fragment.done_ns); });
  }
  for (const auto& [number, span] : requests_) times.push_back(span.done_ns);
  const int64_t before_ns = behind_half(times);
  forgotten_ns_ = std::max(forgotten_ns_, before_ns);
  for (Lists* lists : all) fragment_count_ -= forget_in(*lists, before_ns);
  fragment_count_ -= std::erase_if(requests_, [&](const auto& entry) { return entry.second.done_ns < before_ns; });
}

}  // namespace mlrun::trace
