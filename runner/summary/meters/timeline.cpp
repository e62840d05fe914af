// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/timeline.h"

#include <algorithm>

#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

// the share of `whole` that corresponds to the first `part` of `of`; does not overflow
int64_t portion(int64_t whole, int64_t part, int64_t of) { return int64_t(__int128(whole) * part / of); }

}  // namespace

void Timeline::add(int64_t ts_ns, int64_t dur_ns, int64_t bytes_read, int64_t bytes_written) {
  if (start_ns_ == 0) start_ns_ = ts_ns;
  const int64_t begin = std::max<int64_t>(ts_ns - start_ns_, 0);
  const int64_t end = std::max(begin, ts_ns + dur_ns - start_ns_);
  while (end / bin_ns_ >= int64_t(kMaxBins)) widen();
  const auto first = size_t(begin / bin_ns_), last = size_t(end / bin_ns_);
  if (last >= bins_.size()) bins_.resize(last + 1);
  if (first == last) {
    TimeBin& bin = bins_[first];
    util::add_to(bin.bytes_read, bytes_read);
    util::add_to(bin.bytes_written, bytes_written);
    util::add_to(bin.time_ns, end - begin);
    return;
  }
  TimeBin before;  // sum of the bins so far
  for (size_t i = first; i <= last; ++i) {
    const int64_t passed = std::min(end, int64_t(i + 1) * bin_ns_) - begin;
    const TimeBin now{portion(bytes_read, passed, end - begin), portion(bytes_written, passed, end - begin), passed};
    util::add_to(bins_[i].bytes_read, now.bytes_read - before.bytes_read);
    util::add_to(bins_[i].bytes_written, now.bytes_written - before.bytes_written);
    util::add_to(bins_[i].time_ns, now.time_ns - before.time_ns);
    before = now;
  }
}

void Timeline::widen() {
  bin_ns_ *= 2;
  for (size_t i = 0; i < bins_.size(); ++i) {
    const TimeBin moved = bins_[i];
    if (i % 2 == 0) bins_[i / 2] = TimeBin{};
    TimeBin& bin = bins_[i / 2];
    util::add_to(bin.bytes_read, moved.bytes_read);
    util::add_to(bin.bytes_written, moved.bytes_written);
    util::add_to(bin.time_ns, moved.time_ns);
  }
  bins_.resize((bins_.size() + 1) / 2);
}

}  // namespace mlrun::summary
