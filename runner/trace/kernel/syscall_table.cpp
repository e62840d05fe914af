// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/syscall_table.h"

#include <seccomp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/parquet/row_columns.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using Buckets = std::array<uint64_t, MLRUN_SYSCALL_BUCKETS>;

int64_t bound_ns(size_t bucket) { return int64_t{2} << bucket; }

// Upper bound, in ns, of the bucket that contains the quantile `q`; 0 if no call has ended, null for the last bucket,
// which is unbounded.
model::Number quantile_below_ns(const Buckets& buckets, double q) {
  const uint64_t count = std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
  uint64_t left =
      count == 0 ? 0 : std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(count))));
  for (size_t i = 0; i < buckets.size() && left != 0; i++) {
    if (buckets.at(i) >= left) return i + 1 == buckets.size() ? model::Number() : bound_ns(i);
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

struct NumberedSum {
  int32_t id = 0;
  model::Origin origin;
  mlrun_syscall_sum record{};
  Buckets times{};
};

struct SyscallColumns {
  static constexpr const char* kTable = "syscall";
  static void visit(auto& visitor, const NumberedSum& row) {
    const mlrun_syscall_sum& record = row.record;
    visitor("syscall_id", row.id);
    visitor.optional("proc_id", row.origin.proc_id, 0);
    visitor("pid", static_cast<int32_t>(record.head.pid));
    visitor("comm", util::field_text(record.comm));
    visitor("name", name_of(record));
    visitor("number", static_cast<int32_t>(record.number));
    visitor("is_32bit", (record.flags & MLRUN_SYSCALL_32BIT) != 0 ? 1 : 0);
    visitor("calls", util::capped(record.calls));
    visitor("ended", util::capped(std::accumulate(row.times.begin(), row.times.end(), uint64_t{0})));
    visitor("errors", util::capped(record.errors));
    visitor("time_ns", util::capped(record.total_ns));
  }
};

struct SyscallBucket {
  int32_t id = 0;
  size_t number = 0;
  uint64_t count = 0;
};

struct SyscallBucketColumns {
  static constexpr const char* kTable = "syscall_bucket";
  static void visit(auto& visitor, const SyscallBucket& row) {
    visitor("syscall_id", row.id);
    visitor("low_ns", row.number == 0 ? 0 : bound_ns(row.number - 1));
    visitor("high_ns", row.number + 1 == MLRUN_SYSCALL_BUCKETS ? INT64_MAX : bound_ns(row.number));
    visitor("count", util::capped(row.count));
  }
};

using SyscallSums = tables::RowTable<SyscallColumns, NumberedSum>;
using SyscallBuckets = tables::RowTable<SyscallBucketColumns, SyscallBucket>;

}  // namespace

std::string syscall_name(uint32_t number, bool is_32bit) {
  if (number == MLRUN_SYSCALL_OTHER) return "no system call";
  struct Free {
    void operator()(char* text) const {
      std::free(text);
    }  // NOLINT(cppcoreguidelines-no-malloc): libseccomp gives ownership
  };
  const std::unique_ptr<char, Free> name(
      ::seccomp_syscall_resolve_num_arch(is_32bit ? SCMP_ARCH_X86 : SCMP_ARCH_X86_64, static_cast<int>(number)));
  return name ? std::string(name.get()) : fmt::format("syscall {}", number);
}

void SyscallTable::add(const mlrun_syscall_sum& record, const model::Origin& origin) {
  rows_.push_back({origin, record});
}

Status SyscallTable::write(const std::string& tables_folder) const {
  SyscallSums sums;
  SyscallBuckets buckets;
  if (Status opened = sums.open_in(tables_folder); !opened) return opened;
  if (Status opened = buckets.open_in(tables_folder); !opened) return opened;
  int32_t next_id = 1;
  for (const Row& row : rows_) {
    const int32_t id = next_id++;
    const Buckets times = buckets_of(row.record);
    sums.add({id, row.origin, row.record, times});
    for (size_t i = 0; i < times.size(); i++) {
      if (times.at(i) != 0) buckets.add({id, i, times.at(i)});
    }
  }
  if (Status closed = sums.close(); !closed) return closed;
  return buckets.close();
}

Status visit_syscall_tables(const tables::TableVisit& visit) {
  return tables::visit_empty<SyscallSums, SyscallBuckets>(visit);
}

nlohmann::json SyscallTable::json() const {
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
  std::vector<model::KernelSide::Syscall> list;
  for (const Total& total : totals) {
    list.push_back({.name = total.name,
                    .calls = util::capped(total.calls),
                    .errors = util::capped(total.errors),
                    .time_ns = util::capped(total.time_ns),
                    .processes = util::capped(total.processes),
                    .p50_below_ns = quantile_below_ns(total.buckets, 0.5),
                    .p99_below_ns = quantile_below_ns(total.buckets, 0.99)});
  }
  return model::json_of(list);
}

}  // namespace mlrun::trace
