// SPDX-License-Identifier: Apache-2.0
// The table `device`: the kernel side's report on each block device at the end of the run.
#pragma once

#include <cstdint>
#include <string>

#include "runner/model/run.h"
#include "runner/parquet/row_table.h"
#include "runner/util/result.h"

namespace mlrun::trace {

Status write_devices(const model::KernelSide& kernel_side, const std::string& tables_folder);

// As tables::visit_empty().
Status visit_device_table(const tables::TableVisit& visit);

// Name of a device as "nvme0n1"; its numbers as "259:0" if the kernel side reported no name.
std::string device_name(const model::KernelSide& kernel_side, uint32_t device);

}  // namespace mlrun::trace
