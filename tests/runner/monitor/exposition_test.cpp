// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/exposition.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace mlrun::monitor {
namespace {

constexpr MetricFamily kBytes{"a_sent_bytes", MetricType::kCounter, "bytes", "Sent."};
constexpr MetricFamily kInfo{"a", MetricType::kInfo, "", "What it is."};
constexpr MetricFamily kTimes{"a_seconds", MetricType::kSummary, "seconds", "Took."};
constexpr MetricFamily kNone{"a_none", MetricType::kGauge, "", "Has no samples."};

std::string written(Format format) {
  Exposition out(format);
  out.begin(kInfo);
  out.add({{"name", "x"}}, 1);
  out.begin(kNone);
  out.begin(kBytes);
  out.add({{"to", "b"}, {"by", "c"}}, 3);
  out.add({}, 0.25);
  out.begin(kTimes);
  out.add({}, 7, 1.5);
  return std::move(out).finish();
}

TEST(Exposition, PrometheusTextHasSuffixesInTheHeadAndNoUnits) {
  EXPECT_EQ(written(Format::kPrometheus),
            "# HELP a_info What it is.\n# TYPE a_info gauge\na_info{name=\"x\"} 1\n"
            "# HELP a_sent_bytes_total Sent.\n# TYPE a_sent_bytes_total counter\n"
            "a_sent_bytes_total{to=\"b\",by=\"c\"} 3\na_sent_bytes_total 0.25\n"
            "# HELP a_seconds Took.\n# TYPE a_seconds summary\na_seconds_count 7\na_seconds_sum 1.5\n");
}

TEST(Exposition, OpenMetricsHasUnitsAndAnEnd) {
  EXPECT_EQ(written(Format::kOpenMetrics),
            "# HELP a What it is.\n# TYPE a info\na_info{name=\"x\"} 1\n"
            "# HELP a_sent_bytes Sent.\n# TYPE a_sent_bytes counter\n# UNIT a_sent_bytes bytes\n"
            "a_sent_bytes_total{to=\"b\",by=\"c\"} 3\na_sent_bytes_total 0.25\n"
            "# HELP a_seconds Took.\n# TYPE a_seconds summary\n# UNIT a_seconds seconds\n"
            "a_seconds_count 7\na_seconds_sum 1.5\n# EOF\n");
}

TEST(Exposition, LabelsCannotEndTheirLine) {
  Exposition out(Format::kPrometheus);
  out.begin(kNone);
  out.add({{"comm", "a\"} 1\nb \\n"}}, 1);
  const std::string text = std::move(out).finish();
  EXPECT_NE(text.find("a_none{comm=\"a\\\"} 1\\nb \\\\n\"} 1\n"), std::string::npos) << text;
}

TEST(Exposition, NumbersAreExactOrNamed) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<double, std::string> cases[] = {{85899345920, "85899345920"},
                                                  {9007199254740992, "9007199254740992"},
                                                  {0.61, "0.61"},
                                                  {-2, "-2"},
                                                  {infinity, "+Inf"},
                                                  {-infinity, "-Inf"},
                                                  {NAN, "NaN"}};
  for (const auto& [value, wanted] : cases) {
    Exposition out(Format::kPrometheus);
    out.begin(kNone);
    out.add({}, value);
    const std::string text = std::move(out).finish();
    EXPECT_TRUE(text.ends_with("\na_none " + wanted + "\n")) << text;
  }
}

TEST(Exposition, OpenMetricsIsTakenWhereItIsWantedNoLess) {
  const std::pair<const char*, Format> cases[] = {
      {"", Format::kPrometheus},
      {"*/*", Format::kPrometheus},
      {"text/html, */*;q=0.8", Format::kPrometheus},
      {"application/openmetrics-text", Format::kOpenMetrics},
      {"application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
       "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
       Format::kOpenMetrics},
      {"text/plain;version=0.0.4;q=0.6, application/openmetrics-text; q=0.5", Format::kPrometheus},
      {"application/openmetrics-text;q=0", Format::kPrometheus},
      {"application/openmetrics-text;q=nonsense", Format::kPrometheus},
      {",;,;q=,", Format::kPrometheus}};
  for (const auto& [accept, format] : cases) EXPECT_EQ(negotiate(accept), format) << accept;
}

}  // namespace
}  // namespace mlrun::monitor
