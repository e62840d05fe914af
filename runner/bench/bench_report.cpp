// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/bench_report.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mlrun::bench {

namespace {

constexpr int kSchemaVersion = 1;

// Three digits, at most one after the point: "14.5 ns", "650 ns", "84.3 us".
std::string time_text(double ns) {
  const double size = std::fabs(ns);
  if (size < 99.95) return fmt::format("{:.1f} ns", ns);
  if (size < 9999.5) return fmt::format("{:.0f} ns", ns);
  if (size < 99.95e3) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.0f} us", ns / 1e3);
}

double collector_ns(const Measurement& measurement) {
  const uint64_t records = measurement.collected.records;
  return records == 0 ? 0 : static_cast<double>(measurement.collected.cpu_ns) / static_cast<double>(records);
}

std::string figure_line(const Figure& figure) {
  const Operation& operation = *figure.operation;
  const std::string head = fmt::format("{:<41}{:>10}", operation.text, time_text(figure.untraced_ns.median));
  if (!operation.compared) return head + "\n";
  const Estimate& added = figure.added_ns;
  return fmt::format("{}{:>11}{:>11} .. {}{}\n", head, time_text(added.median), time_text(added.low),
                     time_text(added.high), is_uncertain(added) ? "  uncertain" : "");
}

std::string uncertain_text(const Measurement& measurement) {
  int uncertain = 0, compared = 0;
  for (const Figure& figure : measurement.figures) {
    compared += figure.operation->compared;
    uncertain += figure.operation->compared && is_uncertain(figure.added_ns);
  }
  if (uncertain == 0) return {};
  return fmt::format(
      "{} of {} figures are uncertain: their interval is wider than the figure, or reaches zero. Stop other programs "
      "on the machine, or measure longer with --seconds.\n",
      uncertain, compared);
}

}  // namespace

std::string bench_text(const Measurement& measurement, const nlohmann::json& host, const std::string& clock_complaint) {
  std::string out = fmt::format("What tracing costs on {}: {}, {} CPUs, Linux {}\n", host.value("name", "this machine"),
                                host.value("cpu_model", ""), host.value("cores", 0), host.value("kernel", ""));
  if (!clock_complaint.empty())
    out += fmt::format("Records are stamped with CLOCK_MONOTONIC, which costs more than the time stamp counter: {}\n",
                       clock_complaint);
  out += fmt::format("CPU time added to a call, medians of {} pairs with 95 % intervals\n\n", measurement.rounds);
  out += fmt::format("{:<41}{:>10}{:>11}{:>22}\n", "", "untraced", "added", "interval");
  for (const Figure& figure : measurement.figures) out += figure_line(figure);
  out += fmt::format("{:<41}{:>10}\n", "mlrun itself, for each record", time_text(collector_ns(measurement)));
  const std::string uncertain = uncertain_text(measurement);
  return uncertain.empty() ? out : out + "\n" + uncertain;
}

nlohmann::ordered_json bench_json(const Measurement& measurement, const nlohmann::json& identity) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (const Figure& figure : measurement.figures) {
    nlohmann::ordered_json line = {{"name", figure.operation->name},
                                   {"text", figure.operation->text},
                                   {"pairs", figure.untraced_ns.figures},
                                   {"untraced_ns", figure.untraced_ns.median}};
    if (figure.operation->compared) {
      line["added_ns"] = figure.added_ns.median;
      line["interval_ns"] = {figure.added_ns.low, figure.added_ns.high};
      line["uncertain"] = is_uncertain(figure.added_ns);
    }
    figures.push_back(std::move(line));
  }
  nlohmann::ordered_json out = {{"schema", "mlrun-bench"}, {"schema_version", kSchemaVersion}};
  for (const auto& [key, value] : identity.items()) out[key] = value;
  out["records"] = measurement.collected.records;
  out["collector_ns_per_record"] = collector_ns(measurement);
  out["figures"] = std::move(figures);
  return out;
}

}  // namespace mlrun::bench
