// SPDX-License-Identifier: Apache-2.0
// GPU work as a block of the summary's JSON (SUMMARY_JSON.md), without its single numbers (summary/tables/values.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/summary/summary.h"

namespace mlrun::report {

[[nodiscard]] nlohmann::ordered_json gpu_work_json(const summary::Summary& summary);

}  // namespace mlrun::report
