// SPDX-License-Identifier: Apache-2.0
// The answer's part of the summary's JSON (SUMMARY_JSON.md).
#pragma once

#include <nlohmann/json.hpp>

#include "runner/summary/answer.h"

namespace mlrun::summary {

// Adds the keys `time`, `without_batch_ns`, `startup`, `findings`, `waited_for`, `driver`, `steps`. Without an answer they are null.
void add_answer(const Answer& answer, nlohmann::ordered_json& out);

}  // namespace mlrun::summary
