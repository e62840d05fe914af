// SPDX-License-Identifier: Apache-2.0
// Converts the options of a run to those of its recording.
#pragma once

#include <string>

#include "runner/collect/recording.h"
#include "runner/options/options.h"

namespace mlrun::commands {

// placement_bytes: the rules of --place (runner/events/placement.h).
collect::RecordingOptions recording_options(const RunOptions& options, const std::string& folder,
                                            const std::string& placement_bytes);

}  // namespace mlrun::commands
