// SPDX-License-Identifier: Apache-2.0
// The summary as JSON: SUMMARY_JSON.md documents it, schema_version is its version.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/summary/summary.h"

namespace mlrun::report {

[[nodiscard]] nlohmann::ordered_json to_json(const summary::Summary& summary);

}  // namespace mlrun::report
