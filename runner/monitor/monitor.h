// SPDX-License-Identifier: Apache-2.0
// The monitor: looks at the GPUs, shows and serves what they tell, until it is told to end. One thread does all that but
// the looks themselves, which a driver may hold up (runner/samplers/gpu/gpu_sampler.h).
#pragma once

#include "runner/options/monitor_settings.h"
#include "runner/util/result.h"

namespace mlrun::monitor {

// The exit status. Without a server an error where no GPU can be looked at; with one that is told by /healthz, and tried
// again.
Result<int> run(const Settings& settings);

}  // namespace mlrun::monitor
