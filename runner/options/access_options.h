// SPDX-License-Identifier: Apache-2.0
// --access and its events.
#pragma once

#include "runner/options/options.h"
#include "runner/options/run_flags.h"
#include "runner/util/result.h"

namespace mlrun {

Status read_access(const RunTexts& texts, RunOptions& options);

}  // namespace mlrun
