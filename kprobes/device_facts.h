// SPDX-License-Identifier: Apache-2.0
// What /sys says about a block device.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::probes {

// name, kind (disk, partition, dm, md, …), model, scheduler, rotational, and `below`: names of the devices under a
// stacked one. Unknown keys are missing. disk: its name in the kernel, for a device whose number /sys does not list.
nlohmann::json device_facts(uint32_t device, std::string_view disk);

}  // namespace mlrun::probes
