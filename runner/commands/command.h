// SPDX-License-Identifier: Apache-2.0
// The verbs of mlrun. To add one: a file pair in this folder, and a line in the table of command.cpp.
#pragma once

#include <span>
#include <string>

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
  Result<int> (*run)(const Arguments& arguments);  // the exit status
};

std::span<const Command> all_commands();

// Null: no such verb.
const Command* find_command(const std::string& name);

// The output of `mlrun --help`.
std::string general_help();

}  // namespace mlrun::commands
