// SPDX-License-Identifier: Apache-2.0
// What tracing costs per call on this machine, kept for later runs: a file beside the installed library, by host, kernel,
// processor, clock and the library's content. It is installed without costs, so that what removes the programs removes
// it, and nothing is written anywhere else. A run stores it in its trace, and the summary multiplies it by the
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

// Where costs are kept: in the folder of the installed library.
std::string cost_file(const std::string& library);

// Null: none is stored for this machine and library. The result may be insufficient.
nlohmann::json stored_cost(const std::string& file, const nlohmann::json& identity);

// Fails where the folder is not this user's: a file of root's among another user's would stay there.
Status store_cost(const std::string& file, const nlohmann::json& cost);

// The stored cost; without one, measures for about 50 ms and stores the result where that is possible. Where it is, only
// the first run on a machine spends that time, or one run an hour while the machine is too busy; else every run does.
// Null: it could not be measured.
nlohmann::json find_cost(const Installed& installed, const Report& report);

}  // namespace mlrun::bench
