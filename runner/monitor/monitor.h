// SPDX-License-Identifier: Apache-2.0
// The monitor: samples the GPUs, shows and serves the values, until a signal ends it. One thread does all of this
// except the sampling, which a driver may block (runner/samplers/gpu/gpu_sampler.h).
#pragma once

#include "runner/options/monitor_settings.h"
#include "runner/util/result.h"

namespace mlrun::monitor {

// Returns the exit status. If no GPU can be sampled: an error without a server; with one, /healthz reports it and the
// monitor retries.
Result<int> run(const Settings& settings);

}  // namespace mlrun::monitor
