// SPDX-License-Identifier: Apache-2.0
// A plan in TOML as a draft, and a draft as TOML.
#pragma once

#include <string>

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

// Reads everything but [[configuration]] if the draft has configurations already: then the plan must have none.
void read_toml(const std::string& text, const std::string& file, Draft& draft);

// What `runs` asks for, in TOML. Comments and what runs do not have are absent.
std::string toml_text(const Draft& draft);

}  // namespace mlrun::sweep
