// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/exposition.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::monitor {

namespace {

// Suffix of a sample's name, in the order of MetricType.
constexpr const char* kSuffixes[] = {"", "_total", "_info", ""};
constexpr const char* kOpenTypes[] = {"gauge", "counter", "info", "summary"};
constexpr const char* kTextTypes[] = {"gauge", "counter", "gauge", "summary"};

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    c == '\n' ? text += "\\n" : text += c;
  }
  return text;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr double kExactIntegers = 9007199254740992;  // 2^53: a double is exact up to here
  if (value == std::trunc(value) && std::abs(value) <= kExactIntegers) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

// A part of the Accept header, "text/plain;version=0.0.4;q=0.3": the type and its quality value.
struct Wanted {
  std::string_view type;
  double quality = 1;
};
Wanted wanted_of(std::string_view text) {
  Wanted wanted;
  for (const std::string_view part : util::split(text, ";")) {
    const std::string_view word = util::trimmed(part);
    if (wanted.type.empty()) wanted.type = word;
    if (!word.starts_with("q=")) continue;
    const std::string_view value = word.substr(2);
    const auto read = std::from_chars(value.data(), value.data() + value.size(), wanted.quality);
    if (read.ec != std::errc()) wanted.quality = 0;
  }
  return wanted;
}

}  // namespace

Format negotiate(std::string_view accept) {
  double open = 0, plain = 0;
  for (const std::string_view part : util::split(accept, ",")) {
    const Wanted wanted = wanted_of(part);
    if (wanted.type == "application/openmetrics-text") open = std::max(open, wanted.quality);
    if (wanted.type == "text/plain") plain = std::max(plain, wanted.quality);
  }
  return open > 0 && open >= plain ? Format::kOpenMetrics : Format::kPrometheus;
}

const char* content_type(Format format) {
  return format == Format::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

void Exposition::head() {
  if (is_written_) return;
  is_written_ = true;
  const auto type = static_cast<size_t>(family_.type);
  const bool is_open = format_ == Format::kOpenMetrics;
  const std::string name = std::string(family_.name) + (is_open ? "" : kSuffixes[type]);
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(family_.help), name,
                       (is_open ? kOpenTypes : kTextTypes)[type]);
  if (is_open && *family_.unit != 0) text_ += fmt::format("# UNIT {} {}\n", name, family_.unit);
}

void Exposition::sample(const char* suffix, const Labels& labels, double value) {
  head();
  text_ += family_.name;
  text_ += suffix;
  const char* before = "{";
  for (const auto& [name, label] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, name, escaped(label));
    before = ",";
  }
  if (!labels.empty()) text_ += '}';
  text_ += fmt::format(" {}\n", number_text(value));
}

void Exposition::add(const Labels& labels, double value) {
  sample(kSuffixes[static_cast<size_t>(family_.type)], labels, value);
}

void Exposition::add(const Labels& labels, uint64_t count, double sum) {
  sample("_count", labels, static_cast<double>(count));
  sample("_sum", labels, sum);
}

std::string Exposition::finish() && {
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace mlrun::monitor
