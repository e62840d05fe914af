// SPDX-License-Identifier: Apache-2.0
// A plan as JSON, as the database holds it, so that a sweep is resumed without the plan's file.
#pragma once

#include <string>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

std::string to_json(const Plan& plan);
Result<Plan> plan_from_json(const std::string& json);

// The first difference that would change runs of the earlier plan, as text with both values. Empty: the new plan only adds runs, or
// changes settings that are no part of a run, such as `retries`.
std::string changed_runs(const Plan& before, const Plan& after);
// The first difference of any kind, for the message about an edited plan; empty: none.
std::string changed_plan(const Plan& before, const Plan& after);

}  // namespace mlrun::sweep
