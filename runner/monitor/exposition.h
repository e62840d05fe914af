// SPDX-License-Identifier: Apache-2.0
// Metrics as text, in the two formats that Prometheus reads: its own (text/plain; version=0.0.4) and OpenMetrics 1.0.0.
// They differ in the names of counters, in units and in the last line.
//
//   https://prometheus.io/docs/instrumenting/exposition_formats/
//   https://prometheus.io/docs/specs/om/open_metrics_spec/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mlrun::monitor {

enum class Format { kPrometheus, kOpenMetrics };

// The format for a request's Accept header ("" if it has none): OpenMetrics if the client prefers it at least as much as
// plain text.
Format negotiate(std::string_view accept);
const char* content_type(Format format);

enum class MetricType { kGauge, kCounter, kInfo, kSummary };

// `name` ends with `unit` ("": no unit) and lacks the suffix of its type: "_total", "_info", "_count", "_sum".
struct MetricFamily {
  const char* name;
  MetricType type;
  const char* unit;
  const char* help;
};

// Names and values of labels; values are valid UTF-8.
using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  // Samples added from now on belong to `family`, which must be new. A family without samples is not written.
  void begin(const MetricFamily& family) { family_ = family, is_written_ = false; }
  void add(const Labels& labels, double value);
  // A sample of a summary.
  void add(const Labels& labels, uint64_t count, double sum);

  [[nodiscard]] std::string finish() &&;

 private:
  void head();
  void sample(const char* suffix, const Labels& labels, double value);

  Format format_;
  MetricFamily family_{};
  bool is_written_ = false;
  std::string text_;
};

}  // namespace mlrun::monitor
