// SPDX-License-Identifier: Apache-2.0
// What tracing costs per call on this machine, kept for later runs: a file in the user's cache folder, by host, kernel,
// processor, clock and the library's content. A run notes it in its trace, and the summary multiplies it with what was
// recorded. Keys: README.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/bench/measurement.h"
#include "runner/util/result.h"

namespace mlrun::bench {

// What a cost is true of.
nlohmann::json cost_identity(const std::string& library);

// `source`: "bench" or "quick". Classes whose figure is useless (estimate.h) are left out.
nlohmann::json make_cost(const Measurement& measurement, nlohmann::json identity, const std::string& source);

// Does it say what the commonest calls cost?
bool is_sufficient(const nlohmann::json& cost);

// Null: there is none for this machine and library. It need not be sufficient.
nlohmann::json stored_cost(const nlohmann::json& identity);

// Whether this user has a cache folder, by XDG_CACHE_HOME or HOME.
bool can_store_cost();

// The file's path. Fails where there is no cache folder of ours.
Result<std::string> store_cost(const nlohmann::json& cost);

// What is stored, else what a measurement of about 50 ms gives, which is then stored: only the first run on a machine
// takes that time, or one run in an hour while the machine is too busy. Null: it could not be found out, or could not be
// stored, so that every run would take the time.
nlohmann::json find_cost(const Installed& installed, const Tell& tell);

}  // namespace mlrun::bench
