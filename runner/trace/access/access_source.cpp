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

// Visits the samples of the frame at `offset`, if it has samples of accesses. Adds damaged ones to `damaged_rows`.
template <typename Visit>
Status visit_accesses(const SpoolIndex& index, uint64_t offset, uint64_t& damaged_rows, Visit visit) {
  return visit_samples(index, offset, [&](const SpoolFrame& frame, const mlrun_frame_samples& head) -> Status {
    if (head.table == MLRUN_SAMPLE_ACCESS) damaged_rows += for_each_row(frame, head, mlrun_access_sample{}, visit);
    return {};
  });
}

}  // namespace

Status for_each_sample(const SpoolIndex& index, const std::function<void(const mlrun_access_sample&)>& visit) {
  uint64_t damaged_rows = 0;  // AccessSource counts them
  for (const uint64_t offset : index.sample_frames()) {
    if (Status read = visit_accesses(index, offset, damaged_rows, visit); !read) return read;
  }
  return {};
}

Status AccessSource::read_frame() {
  const auto had = static_cast<ptrdiff_t>(waiting_.size());
  const auto add = [&](const mlrun_access_sample& row) { waiting_.push_back(row); };
  if (Status read = visit_accesses(index_, index_.sample_frames()[frame_++], damaged_rows_, add); !read) return read;
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
