// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_source.h"

#include <algorithm>

#include "runner/trace/samples/sample_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

// A frame may have samples that are earlier than the last sample of frames before it, by up to this time. Even earlier
// samples come out too late in the order, and may miss their block.
constexpr int64_t kDisorderNs = 2'000'000'000;

bool is_earlier(const mlrun_access_sample& a, const mlrun_access_sample& b) { return a.monotonic_ns < b.monotonic_ns; }

// Visits the samples of the frame at `offset`, if it has samples of accesses. Returns the number of damaged ones.
template <typename Visit>
Result<uint64_t> visit_frame(const SpoolIndex& index, uint64_t offset, Visit visit) {
  SpoolCursor cursor(index.fd(), offset, offset + MLRUN_FRAME_ALIGN, index.bytes());
  SpoolFrame frame;
  const auto found = cursor.next(frame);
  if (!found) return tl::make_unexpected(found.error());
  mlrun_frame_samples head{};
  if (!*found || !frame.read(head) || head.table != MLRUN_SAMPLE_ACCESS) return uint64_t{0};
  return for_each_row(frame, head, mlrun_access_sample{}, visit);
}

}  // namespace

Status for_each_sample(const SpoolIndex& index, const std::function<void(const mlrun_access_sample&)>& visit) {
  for (const uint64_t offset : index.sample_frames()) {
    if (const auto read = visit_frame(index, offset, visit); !read) return tl::make_unexpected(read.error());
  }
  return {};
}

Status AccessSource::read_frame() {
  const auto had = static_cast<ptrdiff_t>(waiting_.size());
  const auto damaged = visit_frame(index_, index_.sample_frames()[frame_++],
                                   [&](const mlrun_access_sample& row) { waiting_.push_back(row); });
  if (!damaged) return tl::make_unexpected(damaged.error());
  damaged_rows_ += *damaged;
  std::sort(waiting_.begin() + had, waiting_.end(), is_earlier);
  std::inplace_merge(waiting_.begin(), waiting_.begin() + had, waiting_.end(), is_earlier);
  if (!waiting_.empty())
    read_until_ns_ = std::max(read_until_ns_, TraceClock::from_monotonic(waiting_.back().monotonic_ns) - kDisorderNs);
  return {};
}

Result<const mlrun_access_sample*> AccessSource::next(int64_t until_ns) {
  while (frame_ < index_.sample_frames().size() &&
         (waiting_.empty() || TraceClock::from_monotonic(waiting_.front().monotonic_ns) > read_until_ns_)) {
    if (Status read = read_frame(); !read) return tl::make_unexpected(read.error());
  }
  if (waiting_.empty() || TraceClock::from_monotonic(waiting_.front().monotonic_ns) > until_ns) return nullptr;
  current_ = waiting_.front();
  waiting_.pop_front();
  return &current_;
}

}  // namespace mlrun::trace
