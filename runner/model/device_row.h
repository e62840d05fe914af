// SPDX-License-Identifier: Apache-2.0
// A block device, as traced in the kernel. Totals include all requests on the device during the run, of any process; `own` counts requests with a
// bio fragment that a recorded process queued or whose pages it dirtied.
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::model {

struct DeviceRow {
  int64_t dev = 0;  // device number, as st_dev
  int32_t major = 0, minor = 0;
  std::string name, kind, path_name, model, scheduler;
  std::string below;    // of a stacked device: names of the devices below it, separated by commas
  int rotational = -1;  // -1: unknown
  int64_t reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, flushes = 0, discards = 0;
  int64_t device_ns = 0;  // sum of the times from issue to completion
  int64_t errors = 0;
  int64_t own_requests = 0, own_bytes = 0;
};

}  // namespace mlrun::model
