// SPDX-License-Identifier: Apache-2.0
// Numbers with units for display: three significant digits, bytes in powers of 1024, time in s and fractions, counts in
// groups of three. A negative number means unknown and is shown as a dash.
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::util {

// Characters that the terminal can show.
struct Glyphs {
  bool unicode = true;
  [[nodiscard]] const char* pick(const char* unicode_text, const char* ascii_text) const {
    return unicode ? unicode_text : ascii_text;
  }
};

[[nodiscard]] std::string bytes_text(int64_t bytes);             // "1.23 GiB"
[[nodiscard]] std::string bound_text(int64_t bytes);             // "4 KiB": for round numbers, without decimals of zero
[[nodiscard]] std::string rate_text(int64_t bytes, int64_t ns);  // "1.23 GiB/s"
[[nodiscard]] std::string time_text(int64_t ns,
                                    const Glyphs& glyphs);  // "1.23 µs", "12.3 s", "2 min 03 s", "1 h 02 min"
[[nodiscard]] std::string count_text(int64_t count);        // "1,234,567", "12.3 M" from ten million on
[[nodiscard]] std::string counted(int64_t count, const std::string& noun);  // "1 file", "1,234 files"
// "93 %", "0.3 %", "<0.1 %", ">99.9 %": never 0 or 100 unless it is exactly that. "-" if the whole is 0.
[[nodiscard]] std::string percent_text(int64_t part, int64_t whole);
[[nodiscard]] std::string percent_text(double fraction);  // the same of 0.93; "-" for what is no number

}  // namespace mlrun::util
