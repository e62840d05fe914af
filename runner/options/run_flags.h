// SPDX-License-Identifier: Apache-2.0
// The options of `run` as texts from the command line; run_options.cpp turns them into values once all are parsed.
#pragma once

#include <optional>
#include <string>

#include "runner/options/cli.h"
#include "runner/options/options.h"

namespace mlrun {

struct RunTexts {
  std::string preload, kprobes, sample, cupti, access;
  std::optional<std::string> alloc_min, buffer, max_spool, last, alloc_sample, fold;
  std::optional<std::string> pid, cgroup, duration, live;
  std::string stacks, python_stacks;
  std::vector<std::string> keep_environment;
  std::optional<double> sample_hz;
  std::optional<std::string> access_read_event, access_write_event;
};

// Adds all options with their help. Requires: both outlive `app`.
void add_run_options(CLI::App& app, RunTexts& texts, RunOptions& options);

}  // namespace mlrun
