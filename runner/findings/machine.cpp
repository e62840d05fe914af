// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/machine.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_batches.h"

namespace mlrun::findings {

namespace {

// From samples of each processor (--sample=cpu). They lack pressure and the limit of the cgroup, which stay unknown.
Status read_processors(const std::string& folder, Machine& machine) {
  constexpr std::array<const char*, 7> kBusy = {"user_ns",    "nice_ns",  "system_ns",    "irq_ns",
                                                "softirq_ns", "guest_ns", "guest_nice_ns"};
  std::vector<std::string> columns = {"dur", "cpu", "idle_ns", "steal_ns"};
  columns.insert(columns.end(), kBusy.begin(), kBusy.end());
  std::map<int64_t, int64_t> sampled_ns;  // by processor
  double busy = 0, idle = 0, stolen = 0;
  const auto add = [&](const arrow::RecordBatch& batch) {
    const tables::Numbers durs(batch, "dur"), cpus(batch, "cpu"), idles(batch, "idle_ns"), steals(batch, "steal_ns");
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      sampled_ns[cpus[row]] += durs[row];
      idle += static_cast<double>(idles[row]);
      stolen += static_cast<double>(steals[row]);
    }
    for (const char* name : kBusy) {
      const tables::Numbers times(batch, name);
      for (int64_t row = 0; row < batch.num_rows(); ++row) busy += static_cast<double>(times[row]);
    }
  };
  Status read = tables::for_each_batch_if_any(folder, "sample_cpu", {.columns = std::move(columns)}, add);
  int64_t longest_ns = 0;  // the other processors were offline for some time
  for (const auto& [cpu, cpu_ns] : sampled_ns) longest_ns = std::max(longest_ns, cpu_ns);
  if (!read || longest_ns == 0) return read;
  const auto dur = static_cast<double>(longest_ns);
  machine.busy = busy / dur;
  machine.idle = idle / dur;
  machine.stolen = stolen / dur;
  return read;
}

}  // namespace

Result<Machine> read_machine(const std::string& folder, const model::Run& run) {
  Machine machine;
  if (run.host.cores) machine.processors = std::max(1, static_cast<int>(*run.host.cores));
  if (const int64_t wall_ns = run.duration_ns().value_or(0); wall_ns > 0 && run.user_ns && run.sys_ns) {
    machine.own = static_cast<double>(*run.user_ns + *run.sys_ns) / static_cast<double>(wall_ns);
  }
  std::vector<std::string> columns = {"dur",          "busy_ns",
                                      "idle_ns",      "steal_ns",
                                      "cpu_some_ns",  "cgroup_cpu_some_ns",
                                      "throttled_ns", "cpu_quota_thousandths"};
  double dur = 0, busy = 0, idle = 0, stolen = 0, throttled = 0, waited = 0, waited_in_cgroup = 0;
  const auto add = [&](const arrow::RecordBatch& batch) {
    const tables::Numbers durs(batch, "dur"), busys(batch, "busy_ns"), idles(batch, "idle_ns"),
        steals(batch, "steal_ns"), some(batch, "cpu_some_ns"), some_in_cgroup(batch, "cgroup_cpu_some_ns"),
        stopped(batch, "throttled_ns"), quota(batch, "cpu_quota_thousandths");
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      dur += static_cast<double>(durs[row]);
      busy += static_cast<double>(busys[row]);
      idle += static_cast<double>(idles[row]);
      stolen += static_cast<double>(steals[row]);
      waited += static_cast<double>(some[row]);
      waited_in_cgroup += static_cast<double>(some_in_cgroup[row]);
      throttled += static_cast<double>(stopped[row]);
      if (!quota.is_null(row) && quota[row] > 0) machine.quota = static_cast<double>(quota[row]) / 1000;
    }
  };
  const Status read = tables::for_each_batch_if_any(folder, "sample_machine", {.columns = std::move(columns)}, add);
  if (!read) return tl::make_unexpected(read.error());
  if (dur <= 0) {
    if (const Status fallback = read_processors(folder, machine); !fallback)
      return tl::make_unexpected(fallback.error());
    return machine;
  }
  machine.busy = busy / dur;
  machine.idle = idle / dur;
  machine.stolen = stolen / dur;
  machine.throttled = throttled / dur;
  machine.pressure = std::max(waited, waited_in_cgroup) / dur;
  return machine;
}

}  // namespace mlrun::findings
