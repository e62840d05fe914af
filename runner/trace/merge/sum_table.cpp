// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/sum_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <tuple>
#include <utility>

#include "runner/decode/func_class.h"
#include "runner/decode/func_names.h"
#include "runner/events/record.h"
#include "runner/events/sums.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/util/saturating.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

namespace {

using model::SumRow;

constexpr std::array<const char*, MLRUN_ALLOC_END - MLRUN_MALLOC> kAllocNames = {
    "malloc",         "calloc",        "realloc",  "reallocarray", "free",
    "posix_memalign", "aligned_alloc", "memalign", "valloc",       "pvalloc"};

std::string name_of(const SumRow& row) {
  if (row.op != 0) return kAllocNames[static_cast<size_t>(row.op - MLRUN_MALLOC)];
  return decode::func_name(row.call.func);
}

void count(std::vector<model::SumBucket>& buckets, int64_t low, int64_t high, int64_t bytes) {
  auto found = std::lower_bound(buckets.begin(), buckets.end(), low,
                                [](const model::SumBucket& bucket, int64_t value) { return bucket.low < value; });
  if (found == buckets.end() || found->low != low) found = buckets.insert(found, {low, high, 0, 0});
  ++found->calls;
  util::add_to(found->bytes, bytes);
}

void count_duration(SumRow& sum, int64_t dur_ns) {
  const uint64_t index = mlrun_time_bucket(static_cast<uint64_t>(dur_ns));
  count(sum.times, static_cast<int64_t>(mlrun_time_bucket_low(index)),
        static_cast<int64_t>(mlrun_time_bucket_low(index + 1)), 0);
}

void count_size(SumRow& sum, int64_t asked, int64_t moved) {
  const model::SumBucket bucket =
      size_bucket_of_width(static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(asked))));
  count(sum.sizes, bucket.low, bucket.high, moved);
}

void measure(SumRow& sum, const model::Origin& origin, int64_t dur_ns, int64_t served, int64_t bytes) {
  const bool is_first = sum.calls == 0;
  ++sum.calls;
  util::add_to(sum.served_calls, served);
  util::add_to(sum.bytes, bytes);
  util::add_to(sum.time_ns, dur_ns);
  sum.min_ns = is_first ? dur_ns : std::min(sum.min_ns, dur_ns);
  sum.max_ns = std::max(sum.max_ns, dur_ns);
  sum.first_ns = is_first ? origin.ts_ns : std::min(sum.first_ns, origin.ts_ns);
  sum.last_ns = std::max(sum.last_ns, origin.ts_ns + dur_ns);
}

}  // namespace

SumRow& SumTable::sum_of(uint64_t what, const model::Origin& origin, int64_t end_ns, int64_t site, int64_t file_id) {
  const uint32_t stretch = stretches_.at(end_ns);
  const uint64_t who = uint64_t{static_cast<uint32_t>(origin.proc_id)} << 32 | stretch;
  const uint64_t where = util::scrambled(static_cast<uint64_t>(site), static_cast<uint64_t>(file_id));
  bool made = false;
  uint32_t& index = by_key_.at(util::scrambled(util::scrambled(who, what), where), &made);
  if (!made) return rows_[index];
  index = static_cast<uint32_t>(rows_.size());
  SumRow& row = rows_.emplace_back();
  row.stretch = static_cast<int32_t>(stretch);
  return row;
}

void SumTable::add(const model::CallRow& row) {
  const int64_t end_ns = row.origin.ts_ns + row.dur_ns;
  SumRow& sum =
      sum_of(row.func | uint64_t{static_cast<uint32_t>(row.err)} << 32, row.origin, end_ns, row.stack_id, row.file_id);
  if (sum.calls == 0) sum.call = row;
  const auto facts = summary::call_facts(row, decode::class_of_func(row.func).value_or(MLRUN_CLASS_PROCESS));
  measure(sum, row.origin, row.dur_ns, row.served_calls, facts.bytes);
  count_duration(sum, row.dur_ns);
  if (facts.is_read || facts.is_write) count_size(sum, row.requested >= 0 ? row.requested : facts.bytes, facts.bytes);
}

void SumTable::add(const model::AllocRow& row) {
  const int64_t dur_ns = std::max<int64_t>(row.dur_ns, 0);
  SumRow& sum = sum_of(row.op | uint64_t{1} << 31, row.origin, row.origin.ts_ns + dur_ns,
                       row.stack_id != 0 ? row.stack_id : static_cast<int64_t>(row.site), 0);
  if (sum.calls == 0) {
    sum.call.origin = row.origin;
    sum.call.stack_id = row.stack_id;
    sum.op = row.op;
    sum.site_library = row.site_library;
    sum.site_offset = row.site_offset;
  }
  measure(sum, row.origin, dur_ns, 1, row.size);
  if (row.dur_ns >= 0) count_duration(sum, row.dur_ns);
  count_size(sum, row.size, row.size);
}

void SumTable::add(const SliceRows& slice_rows) {
  for (const model::CallRow& row : slice_rows.calls) add(row);
  for (const model::AllocRow& row : slice_rows.allocs) add(row);
}

// Id of the phase that contains the stretch; of nested phases the shortest. 0: none.
int32_t SumTable::phase_of(int32_t stretch, const std::vector<model::PhaseRow>& phases) const {
  const int64_t moment_ns = stretch < 0 ? 0 : stretches_.moment_in(static_cast<uint32_t>(stretch));
  const model::PhaseRow* shortest = nullptr;
  for (const model::PhaseRow& phase : phases) {
    if (moment_ns == 0 || moment_ns < phase.ts_ns || moment_ns >= phase.end_ns()) continue;
    if (!shortest || phase.dur_ns < shortest->dur_ns) shortest = &phase;
  }
  return shortest ? shortest->phase_id : 0;
}

std::vector<SumRow> SumTable::finish(std::vector<SumRow> sums, const std::vector<model::PhaseRow>& phases) const {
  sums.insert(sums.end(), rows_.begin(), rows_.end());
  std::stable_sort(sums.begin(), sums.end(), [](const SumRow& a, const SumRow& b) {
    const auto key = [](const SumRow& row) {
      return std::tuple(row.call.origin.proc_id, row.call.file_id, row.op, row.call.func, row.stretch, row.first_ns,
                        row.call.err, row.site_library, row.site_offset);
    };
    return key(a) < key(b);
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i].sum_id = static_cast<int64_t>(i) + 1;
    sums[i].func = name_of(sums[i]);
    sums[i].phase_id = phase_of(sums[i].stretch, phases);
  }
  return sums;
}

std::vector<model::CoverageRow> SumTable::coverage(const std::vector<SumRow>& sums,
                                                   const mlrun_frame_sums_state& state) {
  int64_t all = 0, of_calls = 0, without_stretch = 0, without_file = 0, without_site = 0;
  for (const SumRow& sum : sums) {
    util::add_to(all, sum.calls);
    if (sum.op == 0) util::add_to(of_calls, sum.calls);
    if (sum.stretch < 0) util::add_to(without_stretch, sum.calls);
    if (sum.of_several_files || (sum.of_several_sites && sum.op == 0)) util::add_to(without_file, sum.calls);
    if (sum.of_several_sites) util::add_to(without_site, sum.calls);
  }
  std::vector<model::CoverageRow> rows;
  const auto add = [&](const char* subject, const char* detail, int64_t seen, int64_t kernel) {
    rows.push_back({0, subject, detail, seen, kernel});
  };
  constexpr const char* kTooMany = "--summary-only reached its limit; these sums lack this key";
  if (without_stretch != 0) add("in which phase calls were, by file", kTooMany, all - without_stretch, all);
  if (without_file != 0) add("which files calls were on", kTooMany, of_calls - without_file, of_calls);
  if (without_site != 0) add("which code made calls", kTooMany, all - without_site, all);
  const auto clamped = [](uint64_t number) { return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)); };
  if (state.threads != 0) add("single threads", kTooMany, -1, clamped(state.threads));
  if (state.names + state.reports != 0) {
    add("names, stacks and reports", "--summary-only reached its limit", -1, clamped(state.names + state.reports));
  }
  if (state.marks != 0) add("bounds of phases", "--summary-only reached its limit", -1, clamped(state.marks));
  if (state.late_marks != 0) {
    add("bounds of phases",
        "the line was written to the log after its time stamp; calls in between count in the earlier phase", -1,
        clamped(state.late_marks));
  }
  return rows;
}

}  // namespace mlrun::trace
