// SPDX-License-Identifier: Apache-2.0
// The table `device`: what the kernel side reported of each block device at the end of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::trace {

class ParquetTable;

// `session`: session.json, of which everything may be missing or of another type.
Status write_devices(const nlohmann::json& session, const std::string& tables_folder);

// Shows the table with its columns, without rows.
Status visit_device_table(const std::function<Status(ParquetTable&)>& visit);

// "nvme0n1"; "259:0" where it was not told.
std::string device_name(const nlohmann::json& session, uint32_t device);

}  // namespace mlrun::trace
