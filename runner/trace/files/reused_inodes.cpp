// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/reused_inodes.h"

#include <algorithm>
#include <tuple>

#include "runner/util/spilled_memory.h"

namespace mlrun::trace {

namespace {

struct Inode {
  uint64_t number;
  uint32_t device, file;
};

}  // namespace

void ReusedInodes::load(const model::FileTable& files) {
  std::vector<Inode, util::SpillAllocator<Inode>> inodes;
  for (size_t i = 0; i < files.size(); ++i) {
    const model::FileTable::Packed& file = files.packed(i);
    if (file.ino != 0) inodes.push_back({file.ino, file.dev, static_cast<uint32_t>(i)});
  }
  const auto order = [](const Inode& inode) { return std::tie(inode.number, inode.device); };
  std::sort(inodes.begin(), inodes.end(), [&](const Inode& a, const Inode& b) { return order(a) < order(b); });
  is_shared_.assign(files.size(), false);
  for (size_t i = 1; i < inodes.size(); ++i) {
    if (order(inodes[i]) == order(inodes[i - 1])) is_shared_[inodes[i].file] = is_shared_[inodes[i - 1].file] = true;
  }
}

// Notes the file at the start and the end of the call. The kernel's work for the call, such as the creation of the file,
// is between them.
void ReusedInodes::add(const model::CallRow& row, int64_t file_id) {
  if (file_id < 1 || static_cast<size_t>(file_id) > is_shared_.size() || !is_shared_[static_cast<size_t>(file_id) - 1])
    return;
  const std::lock_guard lock(mutex_);
  if (seen_.size() + 2 > most_) {
    ++left_out_;
    return;
  }
  seen_.push_back({row.origin.ts_ns, file_id});
  seen_.push_back({row.origin.ts_ns + row.dur_ns, file_id});
}

void ReusedInodes::call(const model::CallRow& row) {
  if (row.err != 0) return;
  add(row, row.file_id);
  add(row, row.file2_id);
}

}  // namespace mlrun::trace
