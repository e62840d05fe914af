// SPDX-License-Identifier: Apache-2.0
// A plan in TOML as a draft, and a draft as TOML.
#pragma once

#include <string>

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

// Reads a plan. If the draft has configurations already (from a modes file), the plan must have no [[configuration]].
void read_toml(const std::string& text, const std::string& file, Draft& draft);

// The plan of a `runs` command line, in TOML.
std::string toml_text(const Draft& draft);

}  // namespace mlrun::sweep
