// SPDX-License-Identifier: Apache-2.0
// The table `device`: the kernel side's report on each block device at the end of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::trace {

class ParquetTable;

// `session`: session.json, untrusted: any value may be missing or of another type.
Status write_devices(const nlohmann::json& session, const std::string& tables_folder);

// Calls `visit` with the empty table, its columns declared.
Status visit_device_table(const std::function<Status(ParquetTable&)>& visit);

// Name of a device as "nvme0n1"; its numbers as "259:0" if session.json lacks the name.
std::string device_name(const nlohmann::json& session, uint32_t device);

}  // namespace mlrun::trace
