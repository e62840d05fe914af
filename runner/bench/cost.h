// SPDX-License-Identifier: Apache-2.0
// What tracing costs per call on this machine, kept for later runs: a file in the user's cache folder, by host, kernel,
// processor, clock and the library's content. A run stores it in its trace, and the summary multiplies it by the
// recorded calls. Keys: README.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/bench/measurement.h"
#include "runner/util/result.h"

namespace mlrun::bench {

// What a cost is valid for.
nlohmann::json cost_identity(const std::string& library);

// `source`: "bench" or "quick". Classes whose figure is useless (estimate.h) are left out.
nlohmann::json make_cost(const Measurement& measurement, nlohmann::json identity, const std::string& source);

// Does it have the cost of the commonest calls?
bool is_sufficient(const nlohmann::json& cost);

// Null: none is stored for this machine and library. The result may be insufficient.
nlohmann::json stored_cost(const nlohmann::json& identity);

// Whether this user has a cache folder, by XDG_CACHE_HOME or HOME.
bool can_store_cost();

// The file's path. Fails where there is no cache folder of ours.
Result<std::string> store_cost(const nlohmann::json& cost);

// The stored cost; without one, measures for about 50 ms and stores the result. Only the first run on a machine spends
// that time, or one run an hour while the machine is too busy. Null: it could not be measured, or not stored, in which
// case every run would spend the time.
nlohmann::json find_cost(const Installed& installed, const Tell& tell);

}  // namespace mlrun::bench
