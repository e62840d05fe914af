// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/call_meter.h"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>

#include "runner/decode/func_names.h"
#include "runner/summary/names.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

CallMeter::CallMeter() : funcs_(decode::kFuncs) {
  classes_.fill(MLRUN_CLASS_PROCESS);
  decode::for_each_func([&](const decode::FuncInfo& info) { classes_[info.number] = info.call_class; });
}

void CallMeter::add(const model::CallRow& row, const CallFacts& facts) {
  const uint16_t func = decode::func_slot(row.func);
  Func& sums = funcs_[func][size_t(facts.group)];
  util::add_to(sums.bytes, facts.bytes);
  util::add_to(sums.time_ns, row.dur_ns);
  sums.latency.add(row.dur_ns);
  if (facts.failed) {
    ++sums.errors;
    ++errors_.at(uint64_t(func) << 32 | uint32_t(row.err));
  }
  if (facts.group != Group::kFiles || !(facts.is_read || facts.is_write)) return;
  const auto asked = uint64_t(row.requested >= 0 ? row.requested : facts.bytes);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (!(direction == Direction::kRead ? facts.is_read : facts.is_write)) continue;
    Size& size = sizes_[size_t(direction)][size_t(std::bit_width(asked))];
    ++size.calls;
    util::add_to(size.bytes, facts.bytes);
  }
}

// The shortest duration is counted in the first bucket, the longest in the last.
void CallMeter::add_durations(const model::SumRow& sum, util::LogHistogram& latency) {
  if (sum.calls > 0) latency.add(sum.min_ns);
  if (sum.calls > 1) latency.add(sum.max_ns);
  for (size_t i = 0; i < sum.times.size(); ++i) {
    const model::SumBucket& bucket = sum.times[i];
    const bool has_longest = sum.calls > 1 && i + 1 == sum.times.size();
    const int64_t others = bucket.calls - (i == 0 ? 1 : 0) - (has_longest ? 1 : 0);
    const int64_t middle = bucket.low + (bucket.high - bucket.low) / 2;
    if (others > 0) latency.add(std::clamp(middle, sum.min_ns, sum.max_ns), others);
  }
}

void CallMeter::add(const model::SumRow& sum, const CallFacts& facts) {
  const uint16_t func = decode::func_slot(sum.call.func);
  Func& sums = funcs_[func][size_t(facts.group)];
  if (facts.is_read || facts.is_write) util::add_to(sums.bytes, sum.bytes);
  util::add_to(sums.time_ns, sum.time_ns);
  add_durations(sum, sums.latency);
  if (facts.failed) {
    util::add_to(sums.errors, sum.calls);
    util::add_to(errors_.at(uint64_t(func) << 32 | uint32_t(sum.call.err)), sum.calls);
  }
  if (facts.group != Group::kFiles) return;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    if (!(direction == Direction::kRead ? facts.is_read : facts.is_write)) continue;
    for (const model::SumBucket& bucket : sum.sizes) {
      Size& size = sizes_[size_t(direction)][size_t(std::bit_width(uint64_t(bucket.low)))];
      util::add_to(size.calls, bucket.calls);
      util::add_to(size.bytes, bucket.bytes);
    }
  }
}

std::vector<FuncSummary> CallMeter::funcs() const {
  std::vector<FuncSummary> out;
  for (size_t func = 0; func < decode::kFuncs; ++func) {
    for (size_t group = 0; group < kGroups; ++group) {
      const Func& sums = funcs_[func][group];
      if (sums.latency.count() == 0) continue;
      out.push_back({uint16_t(func), decode::func_name(uint16_t(func)), class_name(call_class(uint16_t(func))),
                     Group(group), sums.latency.count(), sums.errors, sums.bytes, sums.time_ns, sums.latency});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const FuncSummary& a, const FuncSummary& b) {
    return std::tie(b.time_ns, b.calls) < std::tie(a.time_ns, a.calls);
  });
  return out;
}

std::vector<ErrorSummary> CallMeter::errors() const {
  std::vector<ErrorSummary> out;
  errors_.for_each([&](uint64_t key, int64_t calls) {
    const auto func = uint16_t(key >> 32);
    out.push_back({func, decode::func_name(func), int32_t(uint32_t(key)), calls});
  });
  std::sort(out.begin(), out.end(), [](const ErrorSummary& a, const ErrorSummary& b) {
    return std::tie(b.calls, a.func, a.err) < std::tie(a.calls, b.func, b.err);
  });
  return out;
}

std::vector<SizeBucket> CallMeter::sizes() const {
  std::vector<SizeBucket> out;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    const auto& sizes = sizes_[size_t(direction)];
    for (size_t width = 0; width < sizes.size() - 1; ++width) {
      if (sizes[width].calls == 0) continue;
      out.push_back({direction, width == 0 ? 0 : int64_t{1} << (width - 1), sizes[width].calls, sizes[width].bytes});
    }
  }
  return out;
}

}  // namespace mlrun::summary
