// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/call_fold.h"

#include <algorithm>
#include <tuple>

#include "runner/decode/func_class.h"
#include "runner/decode/func_names.h"
#include "runner/util/saturating.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

namespace {
constexpr size_t kSumsMax = size_t{1} << 22;  // beyond it, calls on new files are summed up as of an unknown file
}

bool CallFold::folds(const model::CallRow& row) const {
  return row.dur_ns < shorter_than_ns_ && row.err == 0 && decode::class_of_func(row.func) != MLRUN_CLASS_PROCESS;
}

void CallFold::add(const model::CallRow& row) {
  const uint64_t who = uint64_t{static_cast<uint32_t>(row.origin.proc_id)} << 16 | row.func;
  const bool has_room = sums_.size() < kSumsMax;
  const int64_t file_id =
      has_room || sums_.find(util::scrambled(util::scrambled(who), static_cast<uint64_t>(row.file_id))) ? row.file_id
                                                                                                        : 0;
  bool made = false;
  Sum& sum = sums_.at(util::scrambled(util::scrambled(who), static_cast<uint64_t>(file_id)), &made);
  const int64_t end_ns = row.origin.ts_ns + row.dur_ns;
  if (made) sum = {row.origin.proc_id, row.func, file_id, 0, 0, 0, row.origin.ts_ns, end_ns};
  ++sum.calls;
  util::add_to(sum.bytes, decode::transfers(row.func) ? std::max<int64_t>(row.ret, 0) : 0);
  util::add_to(sum.time_ns, row.dur_ns);
  sum.first_ns = std::min(sum.first_ns, row.origin.ts_ns);
  sum.last_ns = std::max(sum.last_ns, end_ns);
}

void CallFold::apply(SliceRows& slice_rows, CallJoin* join) {
  slice_rows.folded_calls = 0;
  if (shorter_than_ns_ == 0) return;
  slice_rows.folded_calls = std::erase_if(slice_rows.order, [&](const RowRef& ref) {
    if (ref.kind != RowKind::kCall || !folds(slice_rows.calls[ref.index])) return false;
    add(slice_rows.calls[ref.index]);
    if (join != nullptr) join->unlisted(slice_rows.calls[ref.index]);
    return true;
  });
}

std::vector<model::FoldedRow> CallFold::finish() {
  std::vector<Sum> sums;
  sums_.for_each([&](uint64_t, const Sum& sum) { sums.push_back(sum); });
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    return std::tie(a.proc_id, a.file_id, a.func) < std::tie(b.proc_id, b.file_id, b.func);
  });
  std::vector<model::FoldedRow> rows;
  for (const Sum& sum : sums) {
    rows.push_back({sum.proc_id, sum.file_id, decode::func_name(sum.func), sum.calls, sum.bytes, sum.time_ns,
                    sum.first_ns, sum.last_ns});
  }
  return rows;
}

}  // namespace mlrun::trace
