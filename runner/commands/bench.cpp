// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/bench.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/bench/bench_report.h"
#include "runner/bench/cost.h"
#include "runner/bench/measurement.h"
#include "runner/session/host_facts.h"
#include "runner/session/installation.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/status_line.h"
#include "runner/util/time_units.h"

namespace mlrun::commands {

namespace {

volatile sig_atomic_t interrupted = 0;

// Lets an interrupt end the measurement only, so that temporary files are removed before this process ends.
void watch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaction(signal, &action, nullptr);
}

Result<bench::Measurement> measure_here(double seconds, const bench::Installed& installed) {
  bench::Plan plan;
  plan.limit_ns = static_cast<uint64_t>(seconds * 1e9);
  util::StatusLine progress(true);
  return bench::measure(plan, installed, [&](int rounds, uint64_t used_ns) {
    progress.show(
        fmt::format("measuring: {} pairs, {:.0f} s left", rounds, std::max(seconds - util::in_seconds(used_ns), 0.0)));
    return interrupted == 0;
  });
}

// Stores the measurement for the cost estimates of later runs.
void keep(const bench::Measurement& measurement, const nlohmann::json& identity, const std::string& library) {
  const nlohmann::json cost = bench::make_cost(measurement, identity, "bench");
  if (!bench::is_sufficient(cost)) {
    util::say("not kept for the cost estimate of later runs: too uncertain; try a larger --seconds");
    return;
  }
  if (const Status stored = bench::store_cost(bench::cost_file(library), cost); !stored)
    util::say("not kept for the cost estimate of later runs: " + stored.error().text);
}

}  // namespace

Result<int> bench(const Arguments& arguments) {
  const auto options = parse_bench(arguments);
  if (!options) return tl::make_unexpected(options.error());
  if (!*options) return 0;
  const session::Installation installation = session::find_installation();
  if (const Status usable = session::check_preload_library(installation.preload_library); !usable)
    return tl::make_unexpected(usable.error());
  watch_signals();
  const auto measurement =
      measure_here((*options)->seconds, {installation.bench_program, installation.preload_library});
  if (interrupted != 0) return fail("interrupted", 130);
  if (!measurement) return tl::make_unexpected(measurement.error());
  const nlohmann::json identity = bench::cost_identity(installation.preload_library);
  if ((*options)->json)
    fmt::print("{}\n", bench::bench_json(*measurement, identity).dump(2));
  else
    fmt::print("{}", bench::bench_text(*measurement, session::host_facts(), util::choose_clock().reason));
  keep(*measurement, identity, installation.preload_library);
  return 0;
}

}  // namespace mlrun::commands
