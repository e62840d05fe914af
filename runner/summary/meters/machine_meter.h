// SPDX-License-Identifier: Apache-2.0
// Adds up the samples of the machine's processors, disks, network interfaces and memory.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/events/counter_sample.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class MachineMeter {
 public:
  void add(const mlrun_cpu_sample& sample);
  void add(const mlrun_disk_sample& sample, const std::string& name);
  void add(const mlrun_net_sample& sample, const std::string& name);
  void add(const mlrun_memory_sample& sample);

  // Processors together, memory, then devices and interfaces that did anything.
  [[nodiscard]] std::vector<MachineUse> finish() const;

 private:
  MachineUse cpus_{"cpu", ""};
  std::map<uint32_t, int64_t> cpu_ns_;    // observed, by processor
  std::map<int32_t, MachineUse> memory_;  // by node; -1: the machine
  std::map<std::string, MachineUse> disks_, interfaces_;
};

}  // namespace mlrun::summary
