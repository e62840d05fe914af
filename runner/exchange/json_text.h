// SPDX-License-Identifier: Apache-2.0
// JSON values appended to a text, fast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mlrun::exchange {

// A text in quotes. Bytes that are not UTF-8 become \xNN as in the tables (util/text.h), control characters \uNNNN.
void append_json(std::string& to, std::string_view text);

// A number; in quotes if a reader that keeps numbers as doubles would lose digits.
void append_json(std::string& to, int64_t number);
// A number that is not finite is a text.
void append_json(std::string& to, double number);

// Microseconds with exactly three decimals: nanoseconds, none lost.
void append_microseconds(std::string& to, int64_t ns);

}  // namespace mlrun::exchange
