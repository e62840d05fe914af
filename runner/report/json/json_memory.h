// SPDX-License-Identifier: Apache-2.0
// Memory in the summary's JSON (SUMMARY_JSON.md): rules of --place, accesses.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"

namespace mlrun::report {

void add_memory(const model::Run& run, nlohmann::ordered_json& out);

}  // namespace mlrun::report
