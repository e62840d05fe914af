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

// Replaces each {name} by its value; a {name} without a value stays.
std::string with_values(std::string_view word, const Parameters& values);

// Escapes braces, so that a plan reads `text` literally: {name} becomes {{name}}.
std::string with_literal_braces(std::string_view text);

}  // namespace mlrun::sweep
