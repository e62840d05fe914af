// SPDX-License-Identifier: Apache-2.0
// What /sys says about a block device.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::probes {

// name, kind (disk, partition, dm, md, …), model, scheduler, rotational, and `below`: names of the devices that a
// stacked one sits on. Keys that are not known are missing. disk: its name in the kernel, for one whose number /sys does not tell.
nlohmann::json device_facts(uint32_t device, std::string_view disk);

}  // namespace mlrun::probes
