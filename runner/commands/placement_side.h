// SPDX-License-Identifier: Apache-2.0
// Placement of the command's blocks (--place, --mem-kind), runner side: the rules before the run, what became of them after it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/events/placement.h"
#include "runner/options/options.h"
#include "runner/placement/rule.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

struct Rules {
  std::vector<placement::Rule> rules;
  std::string bytes;  // for the arena; empty: none
};

// Reads and checks the rules. Without them the command would run with its memory elsewhere than was asked for: it does not run.
Result<Rules> settle_placement(const RunOptions& options, const launch::Installation& installation);

// The library for the environment; "": no rules.
std::string placement_library(const RunOptions& options, const launch::Installation& installation);

// `placement` of session.json: the rules; after the run what each process did by them.
void describe_rules(nlohmann::json& session, const Rules& rules);
void describe_placed(nlohmann::json& session, const mlrun_placement& area);

}  // namespace mlrun::commands
