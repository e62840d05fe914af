// SPDX-License-Identifier: Apache-2.0
// Use of memory by the machine, from /proc/meminfo, /proc/vmstat and /proc/pressure, and by each NUMA node, from its
// meminfo and numastat.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/samplers/machine/differences.h"
#include "runner/samplers/machine/source.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

class MemorySource : public Source {
 public:
  explicit MemorySource(const Places& places);
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] bool works() const override { return meminfo_.is_open(); }
  [[nodiscard]] std::vector<std::string> problems() const override;

 private:
  using Table = Differences<int32_t, mlrun_memory_sample>;
  struct Node {
    proc::ProcFile meminfo, numastat;
  };
  void find_nodes();
  void read_pressure(Table::Values& values);
  void add_row(int32_t node, const Table::Values& values, Batch& batch);

  std::string nodes_folder_;
  proc::ProcFile meminfo_, vmstat_, online_;
  std::array<proc::ProcFile, 4> pressure_;  // cpu, io, memory, irq
  std::string online_text_;
  std::map<int32_t, Node> nodes_;
  std::vector<char> room_;
  Table differences_;
};

}  // namespace mlrun::machine
