// SPDX-License-Identifier: Apache-2.0
// Parses --where: comparisons joined by `and`.
//
//   expression = comparison { "and" comparison }
//   comparison = COLUMN ( "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" ) VALUE
//
// VALUE is a word, several words (up to `and`), or 'quoted' or "quoted" text. ~ means "contains"; null means "no
// value".
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

enum class Operator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kContains };

struct Comparison {
  std::string column;
  Operator op = Operator::kEqual;
  std::string value;
  bool quoted = false;
};

Result<std::vector<Comparison>> parse_where(const std::string& text);

}  // namespace mlrun::view
