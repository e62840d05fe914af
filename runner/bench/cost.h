// SPDX-License-Identifier: Apache-2.0
// What tracing costs per call on this machine, kept for later runs: a file beside the installed library, by host, kernel,
// processor, clock and the library's content. The file is installed without costs, so uninstalling the programs also
// removes it, and no other file is written. A run stores the cost in its trace, and the summary multiplies it by the
// number of recorded calls. Keys: README.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/bench/measurement.h"
#include "runner/util/result.h"

namespace mlrun::bench {

// The machine and library for which a cost is valid.
nlohmann::json cost_identity(const std::string& library);

// `source`: "bench" or "quick". Classes whose figure is_useless() (estimate.h) are left out.
nlohmann::json make_cost(const Measurement& measurement, nlohmann::json identity, const std::string& source);

// Does it have the costs of the most common calls?
bool is_sufficient(const nlohmann::json& cost);

// Path of the file with the stored costs, in the folder of the installed library.
std::string cost_file(const std::string& library);

// The stored cost for this machine and library; null: there is none. It may be insufficient (is_sufficient).
nlohmann::json stored_cost(const std::string& file, const nlohmann::json& identity);

// Fails if the folder belongs to another user: root's file in a user's folder could not be removed by that user.
Status store_cost(const std::string& file, const nlohmann::json& cost);

// The stored cost; if there is none, measures for about 50 ms and stores the result if the folder permits it. Then only the
// first run on a machine spends that time, or one run an hour while the machine is too busy. If it cannot be stored, every
// run measures. Null: it could not be measured.
nlohmann::json find_cost(const Installed& installed, const Report& report);

}  // namespace mlrun::bench
