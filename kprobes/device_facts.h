// SPDX-License-Identifier: Apache-2.0
// What /sys says about a block device.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace mlrun::probes {

// name, kind (disk, partition, dm, md, …), model, scheduler, rotational, and `below`: numbers of the devices that a
// stacked one sits on. Keys that are not known are missing.
nlohmann::json device_facts(uint32_t device);

}  // namespace mlrun::probes
