// SPDX-License-Identifier: Apache-2.0
// The rules in the placement rule files that a configuration names. Runs under different rules cannot be compared.
#pragma once

#include <string>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// A UUID of the rules, without comments and the table [advice], in the files that --place names in these options of `mlrun run`; empty: it names none.
// A relative path starts in the current folder. Fails if a file cannot be read.
Result<std::string> hash_of_rule_files(const Words& options);

// Call in the folder where the plan's runs start. Fails if a file has other rules than when the plan was read.
Status check_rule_files(const Configuration& configuration);

}  // namespace mlrun::sweep
