// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/machine_meter.h"

#include <algorithm>
#include <initializer_list>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

// Adds a value unless it is unknown. A sum without known values stays unknown (-1).
void add_known(int64_t& sum, int64_t value) {
  if (value < 0) return;
  if (sum < 0) sum = 0;
  util::add_to(sum, value);
}

int64_t interval_of(const auto& sample) { return util::capped(sample.interval_ns); }

}  // namespace

void MachineMeter::add(const mlrun_cpu_sample& sample) {
  util::add_to(cpu_ns_[sample.cpu], interval_of(sample));
  for (const mlrun_cpu_field field : {MLRUN_CPU_USER_NS, MLRUN_CPU_NICE_NS, MLRUN_CPU_SYSTEM_NS, MLRUN_CPU_IRQ_NS,
                                      MLRUN_CPU_SOFTIRQ_NS, MLRUN_CPU_GUEST_NS, MLRUN_CPU_GUEST_NICE_NS})
    add_known(cpus_.busy_ns, sample.values[field]);
  add_known(cpus_.iowait_ns, sample.values[MLRUN_CPU_IOWAIT_NS]);
  add_known(cpus_.steal_ns, sample.values[MLRUN_CPU_STEAL_NS]);
}

void MachineMeter::add(const mlrun_disk_sample& sample, const std::string& name) {
  MachineUse& disk = disks_.try_emplace(name, MachineUse{"disk", name}).first->second;
  util::add_to(disk.observed_ns, interval_of(sample));
  add_known(disk.busy_ns, sample.values[MLRUN_DISK_BUSY_NS]);
  add_known(disk.in_bytes, sample.values[MLRUN_DISK_READ_BYTES]);
  add_known(disk.out_bytes, sample.values[MLRUN_DISK_WRITTEN_BYTES]);
}

void MachineMeter::add(const mlrun_net_sample& sample, const std::string& name) {
  MachineUse& net = interfaces_.try_emplace(name, MachineUse{"net", name}).first->second;
  util::add_to(net.observed_ns, interval_of(sample));
  add_known(net.in_bytes, sample.values[MLRUN_NET_RX_BYTES]);
  add_known(net.out_bytes, sample.values[MLRUN_NET_TX_BYTES]);
}

// Memory in use is what is not available (machine), or not free, including the page cache (node).
void MachineMeter::add(const mlrun_memory_sample& sample) {
  MachineUse& memory = memory_.try_emplace(sample.node, MachineUse{"memory", ""}).first->second;
  if (sample.node >= 0) memory.name = "node " + std::to_string(sample.node);
  util::add_to(memory.observed_ns, interval_of(sample));
  const int64_t total = sample.values[MLRUN_MEMORY_TOTAL_BYTES];
  const int64_t left = sample.values[sample.node < 0 ? MLRUN_MEMORY_AVAILABLE_BYTES : MLRUN_MEMORY_FREE_BYTES];
  if (total >= 0) memory.total_bytes = total;
  if (left >= 0 && left <= total) memory.peak_bytes = std::max(memory.peak_bytes, total - left);
}

std::vector<MachineUse> MachineMeter::finish() const {
  std::vector<MachineUse> rows;
  if (!cpu_ns_.empty()) {
    rows.push_back(cpus_);
    rows.back().processors = static_cast<int64_t>(cpu_ns_.size());
    for (const auto& [cpu, ns] : cpu_ns_) util::add_to(rows.back().observed_ns, ns);
  }
  for (const auto& [node, use] : memory_) rows.push_back(use);
  for (const auto* all : {&disks_, &interfaces_}) {
    for (const auto& [name, use] : *all) {
      if (use.in_bytes > 0 || use.out_bytes > 0 || use.busy_ns > 0) rows.push_back(use);
    }
  }
  return rows;
}

}  // namespace mlrun::summary
