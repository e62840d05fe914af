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

// By the request's Accept header ("" where there is none): OpenMetrics where it is wanted no less than plain text.
Format negotiate(std::string_view accept);
const char* content_type(Format format);

enum class MetricType { kGauge, kCounter, kInfo, kSummary };

// `name` ends with `unit` ("" : none), and lacks what the type puts behind it: "_total", "_info", "_count", "_sum".
struct MetricFamily {
  const char* name;
  MetricType type;
  const char* unit;
  const char* help;
};

// Values are valid UTF-8.
using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  // Samples that are added from now on belong to `family`, which has not been begun before. One without samples leaves
  // no trace.
  void begin(const MetricFamily& family) { family_ = family, is_written_ = false; }
  void add(const Labels& labels, double value);
  // Of a summary.
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
