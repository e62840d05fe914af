// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/syscall_table.h"

#include <seccomp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/trace/parquet_table.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;
using Buckets = std::array<uint64_t, MLRUN_SYSCALL_BUCKETS>;

int64_t bound_ns(size_t bucket) { return int64_t{2} << bucket; }

int64_t cut(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

// The end of the bucket with the call of that rank; 0 when none has ended, null where it is the last bucket, which has no
// end.
json quantile_below_ns(const Buckets& buckets, double q) {
  const uint64_t count = std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
  uint64_t left =
      count == 0 ? 0 : std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(count))));
  for (size_t i = 0; i < buckets.size() && left != 0; i++) {
    if (buckets.at(i) >= left) return i + 1 == buckets.size() ? json() : json(bound_ns(i));
    left -= buckets.at(i);
  }
  return 0;
}

Buckets buckets_of(const mlrun_syscall_sum& record) {
  Buckets buckets{};
  std::copy_n(static_cast<const __u64*>(record.buckets), buckets.size(), buckets.begin());
  return buckets;
}

std::string name_of(const mlrun_syscall_sum& record) {
  return syscall_name(record.number, (record.flags & MLRUN_SYSCALL_32BIT) != 0);
}

}  // namespace

std::string syscall_name(uint32_t number, bool is_32bit) {
  if (number == MLRUN_SYSCALL_OTHER) return "no system call";
  struct Free {
    void operator()(char* text) const { std::free(text); }  // NOLINT(cppcoreguidelines-no-malloc): its owner says so
  };
  const std::unique_ptr<char, Free> name(
      ::seccomp_syscall_resolve_num_arch(is_32bit ? SCMP_ARCH_X86 : SCMP_ARCH_X86_64, static_cast<int>(number)));
  return name ? std::string(name.get()) : fmt::format("syscall {}", number);
}

void SyscallTable::add(const mlrun_syscall_sum& record, const model::Origin& origin) {
  rows_.push_back({origin, record});
}

Status SyscallTable::write(const std::string& tables_folder) const {
  ParquetTable sums("syscall"), buckets("syscall_bucket");
  auto& id = sums.int32("syscall_id");
  auto& proc_id = sums.optional_int32("proc_id");
  auto& pid = sums.int32("pid");
  auto& comm = sums.text("comm");
  auto& name = sums.text("name");
  auto& number = sums.int32("number");
  auto& is_32bit = sums.int32("is_32bit");
  auto& calls = sums.int64("calls");
  auto& ended = sums.int64("ended");
  auto& errors = sums.int64("errors");
  auto& time_ns = sums.int64("time_ns");
  auto& of = buckets.int32("syscall_id");
  auto& low_ns = buckets.int64("low_ns");
  auto& high_ns = buckets.int64("high_ns");
  auto& count = buckets.int64("count");
  if (Status opened = sums.open_in(tables_folder); !opened) return opened;
  if (Status opened = buckets.open_in(tables_folder); !opened) return opened;
  int32_t next_id = 1;
  for (const Row& row : rows_) {
    const mlrun_syscall_sum& record = row.record;
    const Buckets times = buckets_of(record);
    id.add(next_id);
    proc_id.add_unless(0, row.origin.proc_id);
    pid.add(static_cast<int32_t>(record.head.pid));
    comm.add(util::escaped_utf8({record.comm, ::strnlen(record.comm, sizeof record.comm)}));
    name.add(name_of(record));
    number.add(static_cast<int32_t>(record.number));
    is_32bit.add((record.flags & MLRUN_SYSCALL_32BIT) != 0 ? 1 : 0);
    calls.add(cut(record.calls));
    ended.add(cut(std::accumulate(times.begin(), times.end(), uint64_t{0})));
    errors.add(cut(record.errors));
    time_ns.add(cut(record.total_ns));
    sums.row_added();
    for (size_t i = 0; i < times.size(); i++) {
      if (times.at(i) == 0) continue;
      of.add(next_id);
      low_ns.add(i == 0 ? 0 : bound_ns(i - 1));
      high_ns.add(i + 1 == times.size() ? INT64_MAX : bound_ns(i));
      count.add(cut(times.at(i)));
      buckets.row_added();
    }
    next_id++;
  }
  if (auto closed = sums.close(); !closed) return tl::make_unexpected(closed.error());
  if (auto closed = buckets.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

json SyscallTable::json() const {
  struct Total {
    std::string name;
    uint64_t calls = 0, errors = 0, time_ns = 0, processes = 0;
    Buckets buckets{};
  };
  std::map<std::string, Total> by_name;
  for (const Row& row : rows_) {
    const std::string name = name_of(row.record);
    Total& total = by_name[name];
    const Buckets times = buckets_of(row.record);
    total.name = name;
    total.calls += row.record.calls;
    total.errors += row.record.errors;
    total.time_ns += row.record.total_ns;
    total.processes++;
    for (size_t i = 0; i < times.size(); i++) total.buckets.at(i) += times.at(i);
  }
  std::vector<Total> totals;
  totals.reserve(by_name.size());
  for (auto& [name, total] : by_name) totals.push_back(std::move(total));
  std::stable_sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) { return a.time_ns > b.time_ns; });
  nlohmann::json list = nlohmann::json::array();
  for (const Total& total : totals) {
    list.push_back({{"name", total.name},
                    {"calls", cut(total.calls)},
                    {"errors", cut(total.errors)},
                    {"time_ns", cut(total.time_ns)},
                    {"p50_below_ns", quantile_below_ns(total.buckets, 0.5)},
                    {"p99_below_ns", quantile_below_ns(total.buckets, 0.99)},
                    {"processes", cut(total.processes)}});
  }
  return list;
}

}  // namespace mlrun::trace
