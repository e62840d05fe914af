// SPDX-License-Identifier: Apache-2.0
// Reads a file that `mlrun advise` wrote.
#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string>

#include "runner/sweep/advise/named_sites.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// An error names the file and, if it is about a line, the line.
Result<toml::table> read_rules_table(const std::string& path);

// Adds the sites of the rule with this number; a rule without sites has none.
void add_sites_of_rule(const toml::table& file, size_t rule, NamedSites& sites);

}  // namespace mlrun::sweep
