// SPDX-License-Identifier: Apache-2.0
// Requests of recorded processes to each block device, and their time in the queue and on the device.
#pragma once

#include <cstdint>
#include <map>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"
#include "runner/trace/kernel/kernel_tables.h"
#include "runner/util/log_histogram.h"

namespace mlrun::trace {

class DeviceMeter {
 public:
  void add(const RequestRow& row);

  // The value of `own_devices` in run.json (SUMMARY_JSON.md, `devices`). `kernel_side` has the names of the
  // devices.
  [[nodiscard]] nlohmann::json json_of(const model::KernelSide& kernel_side) const;

 private:
  struct Device {
    model::KernelSide::Device sums;
    util::LogHistogram queue_ns, device_ns;
  };
  std::map<uint32_t, Device> devices_;
};

}  // namespace mlrun::trace
