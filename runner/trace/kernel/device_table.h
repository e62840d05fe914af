// SPDX-License-Identifier: Apache-2.0
// The table `device`: the kernel side's report on each block device at the end of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::tables {
class ParquetTable;
}

namespace mlrun::trace {

Status write_devices(const model::KernelSide& kernel_side, const std::string& tables_folder);

// Calls `visit` with the empty table, its columns declared.
Status visit_device_table(const std::function<Status(tables::ParquetTable&)>& visit);

// Name of a device as "nvme0n1"; its numbers as "259:0" if the kernel side reported no name.
std::string device_name(const model::KernelSide& kernel_side, uint32_t device);

}  // namespace mlrun::trace
