// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/mark_meter.h"

#include <algorithm>
#include <tuple>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {
constexpr size_t kSumsMax = size_t{1} << 19;
}

MarkSummary& MarkMeter::sums_of(const model::MarkRow& row) {
  if (sums_ >= kSumsMax) return rest_;
  const auto [found, made] = by_domain_[row.domain].try_emplace(row.name_id);
  sums_ += made ? 1 : 0;
  return found->second;
}

void MarkMeter::add(const model::MarkRow& row) {
  MarkSummary& sums = sums_of(row);
  ++sums.count;
  records_ += row.dur_ns < 0 || row.is_open ? 1 : 2;
  if (row.dur_ns < 0) return;
  sums.time_ns = util::sum_of(std::max<int64_t>(sums.time_ns, 0), row.dur_ns);
  sums.max_ns = std::max(sums.max_ns, row.dur_ns);
}

std::vector<MarkSummary> MarkMeter::finish(const std::vector<model::NameRow>& names) const {
  std::vector<MarkSummary> out;
  for (const auto& [domain, by_name] : by_domain_) {
    for (const auto& [name_id, sums] : by_name) {
      MarkSummary& summary = out.emplace_back(sums);
      summary.domain = domain;
      const bool known = name_id >= 1 && size_t(name_id) <= names.size();
      summary.name = known ? names[size_t(name_id) - 1].text : "(names without a number)";
    }
  }
  if (rest_.count != 0) out.emplace_back(rest_).name = "(of further names and domains)";
  const auto rank = [](const MarkSummary& of) { return std::tuple(-of.time_ns, -of.count, of.domain, of.name); };
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (out.size() > kTopMarks) out.resize(kTopMarks);
  return out;
}

}  // namespace mlrun::summary
