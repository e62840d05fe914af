// SPDX-License-Identifier: Apache-2.0
// Bytes and packets of each network interface in mlrun's network namespace, from /proc/net/dev, as sar -n DEV,EDEV shows
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/samplers/machine/differences.h"
#include "runner/samplers/machine/source.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

class NetSource : public Source {
 public:
  explicit NetSource(const Places& places);
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] bool works() const override { return dev_.is_open(); }
  [[nodiscard]] std::vector<std::string> problems() const override;

 private:
  proc::ProcFile dev_;
  std::vector<char> room_;
  Differences<std::string, mlrun_net_sample> differences_{all_of<MLRUN_NET_FIELDS>(Counts::kTotal32)};
};

}  // namespace mlrun::machine
