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

// `session`: session.json, in which anything may be missing or of another type.
Status write_devices(const nlohmann::json& session, const std::string& tables_folder);

// Calls `visit` with the empty table, its columns declared.
Status visit_device_table(const std::function<Status(ParquetTable&)>& visit);

// "nvme0n1"; "259:0" if the name is unknown.
std::string device_name(const nlohmann::json& session, uint32_t device);

}  // namespace mlrun::trace
