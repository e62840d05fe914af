// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_access_meter.h"

#include <utility>

#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

void count(FileAccessPattern::Count& to, int64_t bytes) {
  ++to.calls;
  util::add_to(to.bytes, bytes);
}

}  // namespace

FileAccessMeter::Position& FileAccessMeter::position(uint64_t ofd_id) {
  if (Position* found = recent_.find(ofd_id)) return *found;
  if (recent_.size() == kKept) older_ = std::exchange(recent_, {});
  const Position* older = older_.find(ofd_id);
  return recent_.at(ofd_id) = older ? *older : Position{};
}

void FileAccessMeter::opened_for_append(int64_t ofd_id) {
  if (ofd_id != 0) position(uint64_t(ofd_id)).next[size_t(Direction::kWrite)] = kAnywhere;
}

Order FileAccessMeter::transfer(Direction direction, int64_t ofd_id, int64_t offset, int64_t bytes) {
  FileAccessPattern& pattern = patterns_[size_t(direction)];
  if (ofd_id == 0 || offset < 0) {
    count(pattern.unknown, bytes);
    return Order::kUnknown;
  }
  int64_t& next = position(uint64_t(ofd_id)).next[size_t(direction)];
  const bool is_sequential = next == kAnywhere || offset == next;
  count(is_sequential ? pattern.sequential : offset > next ? pattern.forward : pattern.backward, bytes);
  next = offset + bytes;
  return is_sequential ? Order::kSequential : Order::kRandom;
}

}  // namespace mlrun::summary
