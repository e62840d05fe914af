// SPDX-License-Identifier: Apache-2.0
// Parsing and help of a verb's command line: CLI11 with our own help page format.
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

// True: parsed. False: the requested help has been printed. Empty values are errors.
Result<bool> parse(CLI::App& app, const Arguments& arguments);

// A number from `least` to `most`. CLI::Range would accept "nan".
CLI::Validator between(double least, double most);

// Digits only, up to `most`.
CLI::Validator is_number_to(uint64_t most);

}  // namespace mlrun
