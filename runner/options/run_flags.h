// SPDX-License-Identifier: Apache-2.0
// The options of `run` as texts from the command line; run_options.cpp turns them into values once all are parsed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "runner/options/cli.h"
#include "runner/options/options.h"

namespace mlrun {

// Streams that the command line knows but this build lacks.
constexpr std::array<std::pair<const char*, const char*>, 1> kAbsentStreams = {{
    {"access", "access sampling"},
}};

struct RunTexts {
  std::string preload, kprobes, sample, cupti;
  std::optional<std::string> alloc_min, buffer, max_spool, last, alloc_sample, fold;
  std::optional<std::string> pid, cgroup, duration, live;
  std::string stacks, python_stacks;
  std::vector<std::string> keep_environment;
  std::optional<double> sample_hz;
  std::array<std::string, kAbsentStreams.size()> absent;
};

// Adds all options with their help. Requires: both outlive `app`.
void add_run_options(CLI::App& app, RunTexts& texts, RunOptions& options);

}  // namespace mlrun
