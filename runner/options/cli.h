// SPDX-License-Identifier: Apache-2.0
// How a verb's command line is taken apart and explained: CLI11 with a help page of our shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runner/util/result.h"

namespace mlrun {

// Gives `app` its usage line, e.g. "mlrun clean [OPTIONS]".
void set_usage(CLI::App& app, const std::string& usage);

using Arguments = std::vector<std::string>;

// True: parsed. False: help was asked for and has been printed. No option and no argument takes an empty value.
Result<bool> parse(CLI::App& app, const Arguments& arguments);

// A number from `least` to `most`. CLI::Range takes "nan" for one.
CLI::Validator between(double least, double most);

// Digits alone, up to `most`.
CLI::Validator whole_number(uint64_t most);

}  // namespace mlrun
