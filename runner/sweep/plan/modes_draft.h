// SPDX-License-Identifier: Apache-2.0
// Configurations as a file of six columns: mode hms mem cpu dry freq.
#pragma once

#include <string>

#include "runner/sweep/plan/draft.h"

namespace mlrun::sweep {

// One configuration a line; blank lines and comments (#) are left out. mem and cpu are NUMA nodes; - is any. What the columns
// hms and freq ask for does not exist yet.
void read_modes(const std::string& text, const std::string& file, Draft& draft);

}  // namespace mlrun::sweep
