// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/options/options.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kShortestNs = 100'000'000, kLongestNs = 3'600'000'000'000;

struct MonitorTexts {
  std::string interval = "2s";
  std::optional<std::string> duration, listen;
};

Result<uint64_t> read_time(const char* option, const std::string& text) {
  const auto time = util::parse_seconds(text);
  if (!time) return fail(fmt::format("{}: {}", option, time.error().text));
  if (*time == 0) return fail(fmt::format("{} {}: it must be greater than 0", option, text));
  return *time;
}

Status read(const MonitorTexts& texts, monitor::Settings& settings) {
  const auto interval = read_time("--interval", texts.interval);
  if (!interval) return tl::make_unexpected(interval.error());
  if (*interval < kShortestNs || *interval > kLongestNs) {
    return fail(fmt::format("--interval {}: give one between 100ms and 1h", texts.interval));
  }
  settings.interval_ns = *interval;
  if (texts.duration) {
    const auto duration = read_time("--duration", *texts.duration);
    if (!duration) return tl::make_unexpected(duration.error());
    settings.duration_ns = *duration;
  }
  if (texts.listen) {
    auto address = monitor::parse_listen(*texts.listen);
    if (!address) return tl::make_unexpected(address.error());
    settings.listen = *std::move(address);
  }
  if (settings.quiet && !settings.listen) return fail("--quiet leaves nothing to do: give --listen with it");
  return {};
}

}  // namespace

Result<std::optional<monitor::Settings>> parse_monitor(const Arguments& arguments) {
  monitor::Settings settings;
  MonitorTexts texts;
  CLI::App app("Shows NVIDIA GPUs and the processes on them, live; with --listen also for Prometheus.", "monitor");
  set_usage(app, "mlrun monitor [OPTIONS]");
  app.footer(
      "Examples:\n"
      "  mlrun monitor                                   a table every two seconds, until Ctrl-C\n"
      "  mlrun monitor --interval 500ms --duration 1min > gpus.txt\n"
      "  mlrun monitor --quiet --listen                  serves http://127.0.0.1:2112/metrics\n"
      "  mlrun monitor --quiet --listen 0.0.0.0:2112     to the network, without encryption or passwords\n"
      "Without a driver it is an error, but with --listen the driver is retried and /healthz reports it.");
  app.add_option("--interval", texts.interval, "between two samples, 100ms to 1h (default: 2s)")->option_text("TIME");
  app.add_option("--duration", texts.duration, "end after that (default: at Ctrl-C)")->option_text("TIME");
  app.add_option("--listen", texts.listen,
                 "serve /metrics and /healthz, without ADDR only to this machine (default: off; 127.0.0.1:2112 "
                 "without a "
                 "value)")
      ->expected(0, 1)
      ->option_text("[ADDR:]PORT");
  app.add_option("--hostname", settings.hostname, "the label hostname (default: this machine's name)")
      ->option_text("NAME");
  app.add_flag("--label-args", settings.label_args,
               "arguments of processes as a label and in the table; secrets are masked (default: off)");
  app.add_flag("--quiet", settings.quiet, "no table (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::nullopt;
  if (const Status checked = read(texts, settings); !checked) return tl::make_unexpected(checked.error());
  return settings;
}

}  // namespace mlrun
