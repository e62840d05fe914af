// SPDX-License-Identifier: Apache-2.0
// --access and its events.
#pragma once

#include <string_view>
#include <vector>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"
#include "runner/util/result.h"

namespace mlrun {

// The words of --access that name a rung.
std::vector<std::string_view> access_rungs();

Status read_access(const RunTexts& texts, RunOptions& options);

}  // namespace mlrun
