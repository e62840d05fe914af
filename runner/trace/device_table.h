// SPDX-License-Identifier: Apache-2.0
// The table `device`: what the kernel side reported of each block device at the end of the run.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::trace {

// `session`: session.json, of which everything may be missing or of another type.
Status write_devices(const nlohmann::json& session, const std::string& tables_folder);

// "nvme0n1"; "259:0" where it was not told.
std::string device_name(const nlohmann::json& session, uint32_t device);

}  // namespace mlrun::trace
