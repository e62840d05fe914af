// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/gpu_file_meter.h"

#include <algorithm>

#include "runner/events/cufile_calls.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

void GpuFileMeter::add(const model::GpuFileRow& row) {
  const events::CufileCall* what = events::cufile_call_of(row.func);
  if (what == nullptr) return;
  GpuFileSummary& sum = by_func_[row.func];
  sum.func = what->name;
  ++sum.calls;
  sum.errors += row.err != 0;
  util::add_to(sum.operations, row.operations);
  util::add_to(sum.bytes, std::max<int64_t>(row.ret, 0));
  if (row.has_posix) {
    sum.posix_bytes = std::max<int64_t>(sum.posix_bytes, 0);
    util::add_to(sum.posix_bytes, row.posix.bytes);
  }
  util::add_to(sum.time_ns, row.dur_ns);
}

std::vector<GpuFileSummary> GpuFileMeter::finish() const {
  std::vector<GpuFileSummary> sums;
  for (const auto& [func, sum] : by_func_) sums.push_back(sum);
  return sums;
}

Totals totals_of(const model::GpuFileRow& row, bool posix_is_counted) {
  using events::CufileRole;
  const events::CufileCall* what = events::cufile_call_of(row.func);
  Totals totals;
  totals.calls = 1;
  totals.errors = row.err != 0;
  totals.time_ns = row.dur_ns;
  if (what == nullptr || what->role == CufileRole::kRegister || what->role == CufileRole::kDeregister) {
    totals.metadata_calls = 1;
    return totals;
  }
  if (what->role == CufileRole::kOperation) totals.time_ns = 0;  // an operation of a batch: no thread waited in it
  int64_t bytes = std::max<int64_t>(row.ret, 0);
  if (posix_is_counted) {
    // The other bytes are counted in read and write calls already.
    bytes = row.has_posix ? std::max<int64_t>(bytes - row.posix.bytes, 0) : 0;
    totals.time_ns = std::max<int64_t>(totals.time_ns - row.posix.own_thread_ns, 0);
  }
  if (events::is_about_batch(what->role)) return totals;
  (what->is_write ? totals.write_calls : totals.read_calls) = 1;
  (what->is_write ? totals.bytes_written : totals.bytes_read) = bytes;
  return totals;
}

}  // namespace mlrun::summary
