// SPDX-License-Identifier: Apache-2.0
// Requests of each block device, from /proc/diskstats, as iostat -x shows them. There are no rows for partitions and for
// devices that never had a request.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/samplers/machine/differences.h"
#include "runner/samplers/machine/source.h"
#include "runner/samplers/proc/proc_file.h"

namespace mlrun::machine {

class DiskSource : public Source {
 public:
  explicit DiskSource(const Places& places);
  void sample(uint64_t now_ns, Batch& batch) override;
  [[nodiscard]] bool works() const override { return diskstats_.is_open(); }
  [[nodiscard]] std::vector<std::string> problems() const override;

 private:
  using Device = std::pair<uint32_t, std::string>;  // number and name: the number may be reused for another device
  bool is_partition(const Device& device, uint32_t major, uint32_t minor);

  std::string sys_;
  proc::ProcFile diskstats_;
  std::vector<char> room_;
  std::map<Device, bool> partitions_;
  Differences<Device, mlrun_disk_sample> differences_;
};

}  // namespace mlrun::machine
