// SPDX-License-Identifier: Apache-2.0
// Times of each processor, from /proc/stat, as mpstat -P ALL shows them. A processor that is offline has no rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/samplers/machine/differences.h"
#include "runner/samplers/machine/source.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

class CpuSource : public Source {
 public:
  explicit CpuSource(const Places& places);
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] bool works() const override { return stat_.is_open(); }
  [[nodiscard]] std::vector<std::string> problems() const override;

 private:
  proc::ProcFile stat_;
  std::vector<char> room_;
  Differences<int32_t, mlrun_cpu_sample> differences_{all_of<MLRUN_CPU_FIELDS>(Counts::kUp)};
};

}  // namespace mlrun::machine
