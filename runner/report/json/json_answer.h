// SPDX-License-Identifier: Apache-2.0
// The answer's part of the summary's JSON (SUMMARY_JSON.md).
#pragma once

#include <nlohmann/json.hpp>

#include "runner/summary/answer.h"

namespace mlrun::report {

// Adds the keys `driver`, `time`, `without_batch_ns`, `startup`, `findings`, `waited_for` and `steps`; null if the summary has no answer.
void add_answer(const summary::Answer& answer, nlohmann::ordered_json& out);

}  // namespace mlrun::report
