// SPDX-License-Identifier: Apache-2.0
// Facts about a run for session.json: keys and meaning in runner/launch/README.md.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/recording.h"
#include "runner/launch/child_process.h"
#include "runner/launch/placement.h"
#include "runner/model/run.h"
#include "runner/options/options.h"

namespace mlrun::commands {

void describe_start(nlohmann::json& session, const RunOptions& options, collect::Recording& recording,
                    const launch::Placement& placement);

struct CommandEnd {
  uint64_t started_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC
  launch::ChildEnd child;
};
void describe_command_end(nlohmann::json& session, const CommandEnd& end);

// Where the arena of a run is. One in the trace folder moves with the folder.
std::string arena_path(const std::string& folder, const model::Run& run);

// To be called when everything is drained; also by a recovery.
void describe_collection(nlohmann::json& session, const collect::Collector& collector, const collect::Spool& spool,
                         const mlrun_control& control);

}  // namespace mlrun::commands
