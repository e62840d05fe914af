// SPDX-License-Identifier: Apache-2.0
// Statistics as JSON. What is unknown is null.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

using Json = nlohmann::ordered_json;

Json json_of(const Description& description);
// {a, b, difference, low, high, verdict, margin, needs_runs, n_a, n_b, pairs, method}
Json json_of(const Comparison& comparison);

// The text that --json prints.
std::string json_text(const Json& value);

}  // namespace mlrun::sweep
