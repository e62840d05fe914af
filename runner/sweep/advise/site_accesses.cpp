// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/site_accesses.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "runner/parquet/table_batches.h"

namespace mlrun::sweep {

namespace {

// The best first. "faults" is missing, since it sees only first accesses, and "soft-dirty", which sees only writes.
constexpr std::array<std::string_view, 5> kRungs = {"precise", "hint-faults", "cold", "clear-refs", "damon"};

using ByRung = std::map<std::string, std::unordered_map<int64_t, Accesses>, std::less<>>;

void add_rows(const arrow::RecordBatch& batch, ByRung& found) {
  using tables::Numbers;
  const tables::Texts rung(batch, "rung");
  const Numbers stack(batch, "stack_id"), seen(batch, "seen_byte_s"), hot(batch, "hot_ppm"), loads(batch, "loads"),
      stores(batch, "stores"), latency(batch, "latency");
  for (int64_t row = 0; row < batch.num_rows(); row++) {
    Accesses one;
    one.accesses = static_cast<double>(loads[row] + stores[row]);
    one.load_cycles = static_cast<double>(loads[row]) * static_cast<double>(latency[row]);
    if (!hot.is_null(row)) {
      one.seen_byte_s = static_cast<double>(seen[row]);
      one.touched_byte_s = one.seen_byte_s * static_cast<double>(hot[row]) / 1e6;
    }
    found[std::string(rung[row])][stack[row]] += one;
  }
}

bool has_accesses(std::string_view rung, const std::unordered_map<int64_t, Accesses>& by_stack) {
  double sum = 0;
  for (const auto& [stack, one] : by_stack) sum += rung == "precise" ? one.accesses : one.touched_byte_s;
  return sum > 0;
}

}  // namespace

Accesses& Accesses::operator+=(const Accesses& other) {
  seen_byte_s += other.seen_byte_s;
  touched_byte_s += other.touched_byte_s;
  accesses += other.accesses;
  load_cycles += other.load_cycles;
  return *this;
}

Result<SiteAccesses> read_accesses(const std::string& trace) {
  SiteAccesses result;
  ByRung found;
  const Status read = tables::for_each_batch_if_any(trace, "access_site", {},
                                                    [&](const arrow::RecordBatch& batch) { add_rows(batch, found); });
  if (!read) return tl::make_unexpected(read.error());
  for (const std::string_view rung : kRungs) {
    const auto at = found.find(rung);
    if (at == found.end() || !has_accesses(rung, at->second)) continue;
    result.rung = rung;
    result.by_stack = std::move(at->second);
    break;
  }
  return result;
}

}  // namespace mlrun::sweep
