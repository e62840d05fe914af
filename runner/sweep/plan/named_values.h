// SPDX-License-Identifier: Apache-2.0
// {name} in a command. {{name}} is the text {name}; ${name} belongs to a shell and stays, as does any other brace.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// A letter or underscore, then letters, digits, underscores or hyphens.
bool is_value_name(std::string_view text);

std::set<std::string> names_in(const Words& words);

// Each {name} becomes `value_of(name)`; without a value it stays.
std::string with_values(std::string_view word, const Parameters& values);

// The same text when it is read as part of a plan: {name} becomes {{name}}.
std::string with_literal_braces(std::string_view text);

}  // namespace mlrun::sweep
