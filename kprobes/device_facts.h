// SPDX-License-Identifier: Apache-2.0
// What /sys says about a block device.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::probes {

// Returns device, name, kind (disk, partition, dm, md, …), path_name (of dm), model, scheduler, rotational and `below`
// (names of the devices below a stacked one); unknown keys are missing. `disk`: the kernel's name of the disk, used if
// /sys does not list the number.
nlohmann::json device_facts(uint32_t device, std::string_view disk);

}  // namespace mlrun::probes
