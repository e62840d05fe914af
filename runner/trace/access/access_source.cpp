// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_source.h"

#include <algorithm>
#include <unordered_set>

#include "runner/trace/samples/sample_rows.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

// A frame may have samples that are earlier than the last sample of frames before it, by up to this time. Even earlier
// samples come out too late in the order, and may miss their block.
constexpr int64_t kDisorderNs = 2'000'000'000;

template <typename Sample>
constexpr mlrun_sample_table kTableOf = MLRUN_SAMPLE_ACCESS;
template <>
constexpr mlrun_sample_table kTableOf<mlrun_page_sample> = MLRUN_SAMPLE_PAGE;

// Visits the samples of the frame at `offset`, if it has such samples. Adds damaged ones to `damaged_rows`.
template <typename Sample, typename Visit>
Status visit_frame_of(const SpoolIndex& index, uint64_t offset, uint64_t& damaged_rows, Visit visit) {
  return visit_samples(index, offset, [&](const SpoolFrame& frame, const mlrun_frame_samples& head) -> Status {
    if (head.table == kTableOf<Sample>) damaged_rows += for_each_row(frame, head, Sample{}, visit);
    return {};
  });
}

}  // namespace

template <typename Sample>
Status for_each_sample_of_children(const SpoolIndex& index, const model::TraceInfo& info,
                                   const std::function<void(const Sample&)>& visit) {
  std::unordered_set<uint32_t> pids;
  for (const model::ProcessRow& row : info.processes) {
    if (row.forked) pids.insert(static_cast<uint32_t>(row.pid));
  }
  if (pids.empty()) return {};
  const auto visit_child = [&](const Sample& sample) {
    if (pids.contains(sample.host_pid)) visit(sample);
  };
  uint64_t damaged_rows = 0;  // SampleSource counts them
  for (const uint64_t offset : index.sample_frames()) {
    if (Status read = visit_frame_of<Sample>(index, offset, damaged_rows, visit_child); !read) return read;
  }
  return {};
}

template <typename Sample>
Status SampleSource<Sample>::read_frame() {
  const auto had = static_cast<ptrdiff_t>(waiting_.size());
  const auto add = [&](const Sample& row) { waiting_.push_back(row); };
  const auto is_earlier = [](const Sample& a, const Sample& b) { return a.monotonic_ns < b.monotonic_ns; };
  if (Status read = visit_frame_of<Sample>(index_, index_.sample_frames()[frame_++], damaged_rows_, add); !read)
    return read;
  std::sort(waiting_.begin() + had, waiting_.end(), is_earlier);
  std::inplace_merge(waiting_.begin(), waiting_.begin() + had, waiting_.end(), is_earlier);
  if (!waiting_.empty())
    read_until_ns_ = std::max(read_until_ns_, TraceClock::from_monotonic(waiting_.back().monotonic_ns) - kDisorderNs);
  return {};
}

template <typename Sample>
Result<const Sample*> SampleSource<Sample>::next(int64_t until_ns) {
  while (frame_ < index_.sample_frames().size() &&
         (waiting_.empty() || TraceClock::from_monotonic(waiting_.front().monotonic_ns) > read_until_ns_)) {
    if (Status read = read_frame(); !read) return tl::make_unexpected(read.error());
  }
  if (waiting_.empty() || TraceClock::from_monotonic(waiting_.front().monotonic_ns) > until_ns) return nullptr;
  current_ = waiting_.front();
  waiting_.pop_front();
  return &current_;
}

template Status for_each_sample_of_children<mlrun_access_sample>(
    const SpoolIndex&, const model::TraceInfo&, const std::function<void(const mlrun_access_sample&)>&);
template Status for_each_sample_of_children<mlrun_page_sample>(const SpoolIndex&, const model::TraceInfo&,
                                                               const std::function<void(const mlrun_page_sample&)>&);
template class SampleSource<mlrun_access_sample>;
template class SampleSource<mlrun_page_sample>;

}  // namespace mlrun::trace
