// SPDX-License-Identifier: Apache-2.0
#include "runner/util/units.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "runner/util/text.h"
#include "runner/util/time_units.h"

namespace mlrun::util {
namespace {

// Three significant digits; all digits of the integer part from 999.5 on. Requires: value >= 0.
std::string digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

// Requires: it is neither 0 nor 100.
std::string percent_text_between(double percent) {
  if (percent < 0.1) return "<0.1 %";
  if (percent > 99.9) return ">99.9 %";
  return fmt::format("{:.{}f} %", percent, percent < 9.95 || percent > 99 ? 1 : 0);
}

}  // namespace

std::string bytes_text(int64_t bytes) { return bytes < 0 ? "-" : size_text(uint64_t(bytes)); }

std::string bound_text(int64_t bytes) {
  std::string text = bytes_text(bytes);
  const size_t point = text.find('.'), blank = text.find(' ');
  if (point != std::string::npos && text.find_first_not_of('0', point + 1) == blank) text.erase(point, blank - point);
  return text;
}

std::string rate_text(int64_t bytes, int64_t ns) {
  if (bytes < 0 || ns <= 0) return "-";
  const double rate = double(bytes) / double(ns) * double(kNsPerS);
  return bytes_text(rate < double(INT64_MAX) ? int64_t(rate) : INT64_MAX) + "/s";
}

std::string time_text(int64_t ns, const Glyphs& glyphs) {
  if (ns < 0) return "-";
  if (ns == 0) return "0 s";
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 999'500) return digits(double(ns) / 1e3) + glyphs.pick(" µs", " us");
  if (ns < 999'500'000) return digits(double(ns) / 1e6) + " ms";
  if (ns < 60 * kNsPerS - kNsPerS / 20) return digits(in_seconds(ns)) + " s";
  const int64_t seconds = ns / kNsPerS + (ns % kNsPerS >= kNsPerS / 2 ? 1 : 0);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const int64_t minutes = (seconds + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string count_text(int64_t count) {
  if (count < 0) return "-";
  if (count >= 10'000'000) {
    static constexpr std::array<const char*, 4> kUnits = {" M", " G", " T", " P"};
    auto value = double(count) / 1e6;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
    return digits(value) + kUnits[unit];
  }
  std::string text = std::to_string(count);
  for (auto at = int(text.size()) - 3; at > 0; at -= 3) text.insert(size_t(at), 1, ',');
  return text;
}

std::string counted(int64_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent_text(int64_t part, int64_t whole) {
  if (whole <= 0 || part < 0) return "-";
  if (part == 0) return "0 %";
  if (part == whole) return "100 %";
  return percent_text_between(100.0 * double(part) / double(whole));
}

std::string percent_text(double fraction) {
  if (std::isnan(fraction) || fraction < 0) return "-";
  if (fraction == 0) return "0 %";
  if (fraction == 1) return "100 %";
  return percent_text_between(100 * fraction);
}

}  // namespace mlrun::util
