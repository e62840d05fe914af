// SPDX-License-Identifier: Apache-2.0
// Facts about this machine.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mlrun::session {

// Keys: name, kernel, cpu_model, cores, memory_bytes, page_bytes, ticks_per_second, boot_id, time_namespace, network_namespace. Traces
// with the same boot_id and time_namespace have one CLOCK_MONOTONIC.
nlohmann::json host_facts();

}  // namespace mlrun::session
