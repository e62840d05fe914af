// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/page_adds.h"

#include <algorithm>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"
#include "runner/events/call_layout.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/kernel_moments.h"

namespace mlrun::trace {

namespace {

constexpr uint64_t kLastPage = uint64_t{1} << 50;  // no file has a higher page number: such a record is damaged

// Copies from a file on overlayfs match by inode number only, so that pages of the target file do not count.
constexpr uint32_t kAnyDevice = 0;

// Calls that only read ahead: no read requested the pages that they add (mmap: with MAP_POPULATE).
bool only_reads_ahead(uint16_t func) {
  return func == events::func::k_readahead || func == events::func::k_posix_fadvise || func == events::func::k_mmap;
}

}  // namespace

void PageAdds::add(const mlrun_page_add& add) {
  if (count_ >= decode::kPageAddsMax || add.first_page > kLastPage) return;
  ++count_;
  by_thread_[static_cast<int32_t>(add.head.tid)].push_back({static_cast<int64_t>(add.head.time_ns),
                                                            static_cast<int64_t>(add.first_page), add.pages, add.inode,
                                                            static_cast<uint32_t>(stat_device(add.device))});
}

void PageAdds::finish(const model::FileTable& files, bool has_inner) {
  for (const model::FileRow& file : files) {
    const auto device = static_cast<uint32_t>(file.dev);
    const bool is_overlay = file.file_system == "overlay";
    files_.push_back({device, static_cast<uint64_t>(file.ino), is_overlay});
    if (is_overlay) overlays_.insert(device);
  }
  has_inner_ = has_inner;
  for (auto& [tid, added] : by_thread_) {
    std::stable_sort(added.begin(), added.end(), [](const Added& a, const Added& b) { return a.ns < b.ns; });
  }
}

ReadPages PageAdds::pages_of(const Asked& asked) const {
  ReadPages pages;
  const auto thread = by_thread_.find(asked.tid);
  if (thread == by_thread_.end()) return pages;
  const bool known = asked.offset >= 0 && asked.bytes > 0 && asked.bytes <= INT64_MAX - kPageBytes - asked.offset;
  const int64_t begin = known ? asked.offset / kPageBytes : 0;
  const int64_t end = known ? (asked.offset + asked.bytes + kPageBytes - 1) / kPageBytes : 0;
  const auto& added = thread->second;
  auto next = std::lower_bound(added.begin(), added.end(), asked.from_ns,
                               [](const Added& candidate, int64_t ns) { return candidate.ns < ns; });
  for (; next != added.end() && next->ns <= asked.to_ns; ++next) {
    const bool is_on_device = next->device == asked.file.device || asked.file.device == kAnyDevice;
    const bool is_same = next->inode == asked.file.inode && is_on_device;
    if (!is_same && !asked.file.is_overlay) continue;
    const int64_t inside = std::min(next->first_page + next->pages, end) - std::max(next->first_page, begin);
    pages.missing += std::max<int64_t>(inside, 0);
    pages.ahead += next->pages - std::max<int64_t>(inside, 0);
  }
  return pages;
}

std::optional<ReadPages> PageAdds::of(const model::CallRow& row) const {
  const bool reads =
      decode::class_of_func(row.func) == MLRUN_CLASS_READ || decode::copies(row.func) || only_reads_ahead(row.func);
  if (!reads || row.file_kind != model::FileKind::kRegular) return std::nullopt;
  if (row.file_id == 0 || static_cast<size_t>(row.file_id) > files_.size()) return std::nullopt;
  Identity file = files_[static_cast<size_t>(row.file_id - 1)];
  if (decode::copies(row.func) && file.is_overlay) file = {kAnyDevice, file.inode};
  return pages_of({row.origin.tid, row.origin.ts_ns, row.origin.ts_ns + row.dur_ns,
                   only_reads_ahead(row.func) ? -1 : row.offset, std::max(row.requested, row.ret), file});
}

std::optional<ReadPages> PageAdds::of(const mlrun_file_op& operation) const { return of(operation, !has_inner_); }

std::optional<ReadPages> PageAdds::of_outermost(const mlrun_file_op& operation) const { return of(operation, true); }

std::optional<ReadPages> PageAdds::of(const mlrun_file_op& operation, bool takes_all_on_overlay) const {
  const bool is_fault = operation.op == MLRUN_FILE_FAULT;
  const bool reads = is_fault || operation.op == MLRUN_FILE_READ || operation.op == MLRUN_FILE_SPLICE_READ;
  if (!reads || operation.inode == 0) return std::nullopt;
  const auto signed_of = [](uint64_t bytes) { return static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX)); };
  const bool has_offset = operation.offset <= INT64_MAX;
  const auto device = static_cast<uint32_t>(stat_device(operation.device));
  Identity file{device, operation.inode, takes_all_on_overlay && overlays_.contains(device)};
  const bool may_copy = operation.op == MLRUN_FILE_SPLICE_READ && !has_inner_;
  if (may_copy && file.is_overlay) file = {kAnyDevice, file.inode};
  return pages_of({static_cast<int32_t>(operation.head.tid), signed_of(operation.begin_ns),
                   signed_of(operation.head.time_ns), has_offset ? signed_of(operation.offset) : -1,
                   is_fault ? kPageBytes : signed_of(operation.requested), file});
}

}  // namespace mlrun::trace
