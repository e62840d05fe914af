// SPDX-License-Identifier: Apache-2.0
// The summary for machines: SUMMARY_JSON.md is its documentation, schema_version its version.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/summary/summary.h"

namespace mlrun::summary {

[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace mlrun::summary
