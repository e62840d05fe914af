// SPDX-License-Identifier: Apache-2.0
// The output of `mlrun bench`.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/bench/measurement.h"

namespace mlrun::bench {

std::string bench_text(const Measurement& measurement, const nlohmann::json& host, const std::string& clock_complaint);
nlohmann::ordered_json bench_json(const Measurement& measurement, const nlohmann::json& identity);

}  // namespace mlrun::bench
