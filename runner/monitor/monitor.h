// SPDX-License-Identifier: Apache-2.0
// The monitor: samples the GPUs, and shows and serves the values, until a signal ends it. One thread does all of this
// except sampling, which has its own thread, since a driver may block (runner/samplers/gpu/gpu_sampler.h).
#pragma once

#include "runner/options/monitor_settings.h"
#include "runner/util/result.h"

namespace mlrun::monitor {

// Returns the exit status. If no GPU can be sampled: without --listen this is an error; with it, /healthz reports it and
// the monitor retries.
Result<int> run(const Settings& settings);

}  // namespace mlrun::monitor
