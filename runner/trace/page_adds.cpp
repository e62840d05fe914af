// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/page_adds.h"

#include <algorithm>

#include "runner/trace/device_number.h"
#include "runner/trace/func_class.h"
#include "runner/trace/limits.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kPageBytes = 4096;
constexpr uint64_t kLastPage = uint64_t{1} << 50;  // of any file; larger numbers are damage

}  // namespace

void PageAdds::add(const mlrun_page_add& add) {
  if (count_ >= kPageAddsMax || add.first_page > kLastPage) return;
  ++count_;
  by_thread_[static_cast<int32_t>(add.head.tid)].push_back({static_cast<int64_t>(add.head.time_ns),
                                                            static_cast<int64_t>(add.first_page), add.pages, add.inode,
                                                            static_cast<uint32_t>(stat_device(add.device))});
}

void PageAdds::finish(const model::FileTable& files) {
  for (const model::FileRow& file : files) {
    files_.push_back({static_cast<uint32_t>(file.dev), static_cast<uint64_t>(file.ino)});
  }
  for (auto& [tid, added] : by_thread_) {
    std::stable_sort(added.begin(), added.end(), [](const Added& a, const Added& b) { return a.ns < b.ns; });
  }
}

std::optional<ReadPages> PageAdds::of(const model::CallRow& row) const {
  const bool reads = row.file_kind == model::FileKind::kRegular && class_of_func(row.func) == MLRUN_CLASS_READ;
  if (!reads || row.file_id == 0 || static_cast<size_t>(row.file_id) > files_.size()) return std::nullopt;
  ReadPages pages;
  const auto thread = by_thread_.find(row.origin.tid);
  if (thread == by_thread_.end()) return pages;
  const auto [device, inode] = files_[static_cast<size_t>(row.file_id - 1)];
  const int64_t asked = row.offset >= 0 ? row.offset / kPageBytes : 0;
  const int64_t bytes = std::max(row.requested, row.ret);
  const bool known = row.offset >= 0 && bytes > 0;
  const int64_t asked_end = known ? (row.offset + bytes + kPageBytes - 1) / kPageBytes : 0;
  const auto& added = thread->second;
  auto next = std::lower_bound(added.begin(), added.end(), row.origin.ts_ns,
                               [](const Added& candidate, int64_t ns) { return candidate.ns < ns; });
  for (; next != added.end() && next->ns <= row.origin.ts_ns + row.dur_ns; ++next) {
    if (next->inode != inode || next->device != device) continue;
    const int64_t inside = std::min(next->first_page + next->pages, asked_end) - std::max(next->first_page, asked);
    pages.missing += std::max<int64_t>(inside, 0);
    pages.ahead += next->pages - std::max<int64_t>(inside, 0);
  }
  return pages;
}

}  // namespace mlrun::trace
