// SPDX-License-Identifier: Apache-2.0
// The figures of a run by name: what a plan's question may ask for.
#pragma once

#include <string>
#include <vector>

namespace mlrun::sweep {

// Figures of every run, also of a dry one.
const std::vector<std::string>& figures_of_every_run();

// Figures that come from a trace.
const std::vector<std::string>& figures_of_traces();

}  // namespace mlrun::sweep
