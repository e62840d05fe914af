// SPDX-License-Identifier: Apache-2.0
// A block device as the kernel side met it. Totals are those of all requests on it while the run went on, whoever made
// them; `own` are those with a part that a recorded process queued or had made dirty.
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::model {

struct DeviceRow {
  int64_t dev = 0;  // as stat has it
  int32_t major = 0, minor = 0;
  std::string name, kind, path_name, model, scheduler;
  std::string below;    // names of the devices that a stacked one sits on, with commas between
  int rotational = -1;  // -1: not told
  int64_t reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, flushes = 0, discards = 0;
  int64_t device_ns = 0;  // from issue to completion, added up
  int64_t errors = 0;
  int64_t own_requests = 0, own_bytes = 0;
};

}  // namespace mlrun::model
