// SPDX-License-Identifier: Apache-2.0
// Memory in the summary's JSON (SUMMARY_JSON.md): rules of --place, accesses.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mlrun::summary {

void add_memory(const nlohmann::json& run, nlohmann::ordered_json& out);

}  // namespace mlrun::summary
