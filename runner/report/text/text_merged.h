// SPDX-License-Identifier: Apache-2.0
// The summary of a merged trace as text, from `merged` of its run.json.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/report/text/text_style.h"

namespace mlrun::report {

// `problems`: whether to print the lines about problems, which the merge itself has printed already.
std::string merged_text(const nlohmann::ordered_json& merged, const std::string& trace, const TextStyle& style,
                        bool problems);

}  // namespace mlrun::report
